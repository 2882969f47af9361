/* SPDX-License-Identifier: MIT */
/*
 * print/object.c - which object an address is in.
 *
 * TP_printk may run in a signal handler, and inside a probe call that a
 * dlclose() waits for, with the loader's lock held: dladdr(), which takes
 * that lock, would wait for the dlclose() in turn. So where glibc has
 * _dl_find_object() (2.35), that finds the object: it takes no lock, and may be
 * called in signal handlers. With older ones it is dladdr1() after all.
 *
 * Other C libraries, such as musl, have only functions that take the lock. But
 * musl unloads nothing. So there is a list here, which only grows. It is read
 * without a lock, and brought up to date where the loader may be asked.
 */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "print/symbol.h"

#ifdef __GLIBC__

#if TP_GLIBC(2, 35)

bool tp_object_find(uintptr_t address, struct tp_object *object)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)address, &found) != 0)
		return false;
	*object = (struct tp_object){.path = found.dlfo_link_map->l_name,
				     .base = found.dlfo_link_map->l_addr,
				     .begin = (uintptr_t)found.dlfo_map_start,
				     .end = (uintptr_t)found.dlfo_map_end,
				     .dynamic = found.dlfo_link_map->l_ld};
	return true;
}

#else

bool tp_object_find(uintptr_t address, struct tp_object *object)
{
	const struct link_map *map = NULL;
	Dl_info info;

	if (!dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	*object = (struct tp_object){.path = map->l_name, .base = map->l_addr, .dynamic = map->l_ld};
	return true;
}

#endif

void tp_objects_learn(void)
{
}

#else

struct known {
	struct tp_object object;
	const struct known *next;
};

static const struct known *known;

bool tp_object_find(uintptr_t address, struct tp_object *object)
{
	for (const struct known *k = __atomic_load_n(&known, __ATOMIC_ACQUIRE); k; k = k->next) {
		if (address >= k->object.begin && address < k->object.end) {
			*object = k->object;
			return true;
		}
	}
	return false;
}

static void measure(struct tp_object *object, const struct dl_phdr_info *info)
{
	object->begin = UINTPTR_MAX;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type == PT_DYNAMIC)
			object->dynamic = (const void *)begin;
		if (segment->p_type != PT_LOAD)
			continue;
		if (begin < object->begin)
			object->begin = begin;
		if (begin + segment->p_memsz > object->end)
			object->end = begin + segment->p_memsz;
	}
}

/* Of two threads that find an object at once, both add it: then one of the two is never found. */
static int learn(struct dl_phdr_info *info, size_t size, void *data)
{
	bool *is_program = data; /* which comes first */
	struct tp_object object = {.path = *is_program ? "" : info->dlpi_name, .base = info->dlpi_addr}, other;
	struct known *new;

	(void)size;
	*is_program = false;
	measure(&object, info);
	if (object.begin >= object.end || tp_object_find(object.begin, &other))
		return 0;
	new = tp_malloc(sizeof(*new));
	if (!new)
		return 0; /* addresses in it print as numbers */
	*new = (struct known){.object = object, .next = __atomic_load_n(&known, __ATOMIC_RELAXED)};
	while (!__atomic_compare_exchange_n(&known, &new->next, new, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return 0;
}

void tp_objects_learn(void)
{
	bool is_program = true;

	dl_iterate_phdr(learn, &is_program);
}

static void __attribute__((constructor)) learn_at_start(void)
{
	tp_objects_learn();
}

#endif

const char *tp_object_name(const struct tp_object *object, const char *program)
{
	const char *slash = strrchr(object->path, '/');

	return !*object->path ? program : slash ? slash + 1 : object->path;
}
