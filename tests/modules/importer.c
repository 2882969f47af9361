/* SPDX-License-Identifier: MIT */
/*
 * A module with sites of the library's tracepoint. As OTHER, it was built from
 * another definition of it.
 */
#ifdef OTHER
#include "other_exp.h"
#define HIT(n) trace_exp_hit(n)
#else
#include "exp.h"
#define HIT(n) trace_exp_hit(n, "module")
#endif

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((visibility("default"))) void module_hit(int n);
__attribute__((visibility("default"))) bool module_enabled(void);

void module_hit(int n)
{
	HIT(n);
}

bool module_enabled(void)
{
	return trace_exp_hit_enabled();
}

#ifdef __cplusplus
}
#endif
