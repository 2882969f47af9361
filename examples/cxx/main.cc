/* SPDX-License-Identifier: MIT */
/* main WORD...: the length of each word and its capitals, by way of two caches; a probe counts what they did not have. */
#include <cctype>
#include <iostream>

#include "cache.hh"

namespace {

class misses {
public:
	misses()
	{
		register_trace_cache_get(probe, this);
	}
	~misses()
	{
		unregister_trace_cache_get(probe, this);
		tracepoint_synchronize_unregister(); /* no probe uses this object any more */
	}
	misses(const misses &) = delete;
	misses &operator=(const misses &) = delete;

	unsigned int number = 0;

private:
	static void probe(void *data, std::string_view, std::string_view, lookup result)
	{
		static_cast<misses *>(data)->number += result != lookup::hit;
	}
};

std::string capitals(std::string_view word)
{
	std::string text;

	for (const char c : word)
		text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
	return text;
}

/* The value of a word, from the cache or computed. */
template <class Value, class Compute> Value value_of(cache<Value> &of, std::string_view word, Compute compute)
{
	if (const Value *known = of.get(word))
		return *known;

	Value value = compute(word);
	of.put(word, value);
	return value;
}

}

int main(int argc, char **argv)
{
	cache<std::size_t> lengths("lengths", 2, 3);
	cache<std::string> texts("texts", 8, 100);
	const misses missed;

	for (int i = 1; i < argc; i++)
		std::cout << value_of(texts, argv[i], capitals) << ' '
			  << value_of(lengths, argv[i], [](std::string_view word) { return word.size(); }) << '\n';
	std::cout << missed.number << " misses\n";
	return 0;
}
