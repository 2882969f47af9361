/* SPDX-License-Identifier: MIT */
#ifndef TP_CONTROL_H
#define TP_CONTROL_H
#include <tp/tracepoint.h>
#ifdef __cplusplus
extern "C" {
#endif
TP_PUBLIC int tp_control_start(void);
TP_PUBLIC int tp_control_fd(void);
TP_PUBLIC int tp_control_serve(void);
TP_PUBLIC int tp_control_stop(void);
#ifdef __cplusplus
}
#endif
#endif
