/* SPDX-License-Identifier: MIT */
/*
 * tp/control.h - lets the command tp look into this process while it runs.
 *
 * The process listens on a Unix socket, in a directory that only its user can
 * enter. The command tp, or any client of the protocol in docs/internals/control.md,
 * asks for the events, opens outputs, and switches events on and off. What a
 * client has opened is closed when the client's connection ends, however it
 * ends, unless the client has said otherwise.
 *
 * Most programs need none of these functions. At the start, the runtime looks
 * for the directory: if it exists, the runtime listens. The environment variable
 * TP_CONTROL says where the directory is, and whether the runtime listens:
 *
 *	not set   $XDG_RUNTIME_DIR/tp if that directory is the user's, else /run/tp/UID
 *	0         the runtime does not listen; tp_control_start() and tp_control_fd() still do
 *	1         the directory is made if it does not exist
 *	/DIR      this directory
 *
 * ",children=end" after any of these: forked children do not listen. Set-uid, set-gid and capability
 * programs ignore the variable and the directories. With TP_SANDBOX=1, the runtime listens
 * only if TP_CONTROL says so.
 *
 * Only the process's own user and root may connect. The directory must belong to the user, and
 * nobody else may have any right to it.
 *
 * None of these functions may be called from a signal handler, from inside a probe, or from a
 * regfunc or unregfunc of a tracepoint.
 */
#ifndef TP_CONTROL_H
#define TP_CONTROL_H

#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes the process listen, in a thread of the runtime's own, tp-helper. The
 * thread sleeps until a client comes. All signals are blocked in it. The directory is made if it
 * does not exist.
 *
 * A process with this thread has more than one thread, so unshare(CLONE_NEWUSER) and setns() into a
 * user namespace fail in it: call tp_control_stop() before, or use tp_control_fd().
 *
 * After a fork, the child listens, too, with a thread of its own (unless children=end).
 *
 * Returns 0, also if the process listens already; or a negative errno value, after a message:
 *	-EPERM   a set-uid, set-gid or capability program
 *	-EACCES  the directory is not only the user's
 *	others   what the system said of the directory, the socket or the thread
 */
TP_PUBLIC int tp_control_start(void);

/*
 * Makes the process listen without a thread. Returns a descriptor for poll(),
 * select() or epoll: if it is readable, the program calls tp_control_serve(). The descriptor is the
 * runtime's; the program must not read, write or close it. If the thread
 * of tp_control_start() runs, it ends.
 *
 * A forked child has no such descriptor until it calls this function itself.
 *
 * Returns the descriptor, the same one each time, or a negative errno value as tp_control_start().
 */
TP_PUBLIC int tp_control_fd(void);

/*
 * Serves all clients that want something, and returns. A request takes as long as the
 * function of tp/tp.h that it stands for. A client that does not read its reply is
 * given up after a tenth of a second.
 *
 * Returns 0, or a negative errno value:
 *	-EINVAL   tp_control_fd() was not called
 *	-EBUSY    another thread is in this function
 *	-EDEADLK  called from inside a probe
 */
TP_PUBLIC int tp_control_serve(void);

/*
 * The process listens no more. All connections are closed, and the outputs that clients have opened and
 * not kept. Waits for the request that is being served. The functions above can begin anew.
 *
 * Returns 0, or a negative errno value:
 *	-EDEADLK  called from inside a probe, or by the thread that serves
 */
TP_PUBLIC int tp_control_stop(void);

#ifdef __cplusplus
}
#endif

#endif /* TP_CONTROL_H */
