/* SPDX-License-Identifier: MIT */
/* Keeps the values that were asked for last, each for so many lookups. */
#ifndef CACHE_HH
#define CACHE_HH

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>

#include "cache.h"

template <class Value> class cache {
public:
	cache(std::string name_, std::size_t size_, unsigned int lifetime_)
		: name(std::move(name_)), size(size_), lifetime(lifetime_)
	{
	}

	/* A value, or null. */
	const Value *get(std::string_view key)
	{
		const auto at = find(key);

		now++;
		if (at == entries.end()) {
			trace_cache_get(name, key, lookup::miss);
			return nullptr;
		}
		if (now - at->since > lifetime) {
			trace_cache_get(name, key, lookup::expired);
			entries.erase(at);
			return nullptr;
		}
		trace_cache_get(name, key, lookup::hit);
		entries.splice(entries.begin(), entries, at);
		return &at->value;
	}

	void put(std::string_view key, Value value)
	{
		if (entries.size() == size) {
			trace_cache_evict(name, entries.back().key, entries.size() - 1);
			entries.pop_back();
		}
		entries.push_front({std::string(key), std::move(value), now});
	}

private:
	struct entry {
		std::string key;
		Value value;
		unsigned int since;
	};

	typename std::list<entry>::iterator find(std::string_view key)
	{
		auto at = entries.begin();

		while (at != entries.end() && at->key != key)
			++at;
		return at;
	}

	const std::string name;
	const std::size_t size;
	const unsigned int lifetime;
	unsigned int now = 0;
	std::list<entry> entries;
};

#endif
