/* SPDX-License-Identifier: MIT */
/* Functions with sites, each of them twice: SITES_ARE, first or second, says which sites.c is about to define. */
#ifndef SITES_H
#define SITES_H

#include <stdbool.h>

#define SITES(name) SITES_NAME(SITES_ARE, name)
#define SITES_NAME(prefix, name) SITES_JOIN(prefix, name)
#define SITES_JOIN(prefix, name) prefix##_##name

#define DECLARE_SITES(prefix)                                                                                          \
	void prefix##_hit(int n);                                                                                      \
	void prefix##_shared(unsigned long n);                                                                         \
	unsigned long prefix##_loop(const bool *stop)
DECLARE_SITES(first);
DECLARE_SITES(second);

#endif
