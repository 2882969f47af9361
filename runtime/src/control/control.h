/* SPDX-License-Identifier: MIT */
/*
 * control/control.h - what others, outside, ask of the process, for start/.
 * tp/control.h has the functions that are public. Each file uses those below it only:
 *
 *	control.c        whether the process listens, and in which thread
 *	  server.c       the connections
 *	    serve.c      a session
 *	      inspect.c  requests that change nothing
 *	      open.c     the request that opens an output
 *	      change.c   requests about an output that is open
 *	      trigger.c  requests about triggers
 *	        request.c  words of a request, and errors
 *	    rendezvous.c the directory and the socket, and who may connect
 *	outputs.c        the open outputs, and whose they are
 */
#ifndef TP_CONTROL_PRIVATE_H
#define TP_CONTROL_PRIVATE_H

/* Listens, where the environment and the directory say so. Only the first call does something. */
void tp_control_start_if_wanted(void);

/* At the end of the process: no request is served any more. It is waited for no longer than a moment. */
void tp_control_end(void);

#endif /* TP_CONTROL_PRIVATE_H */
