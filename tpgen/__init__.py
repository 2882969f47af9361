# SPDX-License-Identifier: MIT
"""tpgen: a compiler from the kernel's TRACE_EVENT language to user-space C.

One stage a file; each imports only from stages in front of it:

    source, diag, cpp, lexer, text, parser, ctype, model, lower, check, backends, render, emit, lsp, cli
"""

# That of the runtime: TP_VERSION in tp/tracepoint.h.
VERSION = "1.0.0~rc1"

# The contract with the runtime: TP_INTERFACE_VERSION in tp/tracepoint.h.
INTERFACE_VERSION = 1
