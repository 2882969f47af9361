/* SPDX-License-Identifier: MIT */
/* unload.h - what the program (unload.c) and its modules with probes (prober.c) call in each other. */
#ifndef UNLOAD_H
#define UNLOAD_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Of the program: a probe is called; what a module's own unregister has returned. */
void host_enter(void);
void host_report(int error);

/* Of the module. */
int begin(void);
int end(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* UNLOAD_H */
