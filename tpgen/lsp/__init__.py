# SPDX-License-Identifier: MIT
"""The language server: what an editor asks of .tp files while they are written.

    wire                         JSON-RPC in frames
    outline                      the declarations of a text that need not be right
    document                     a text that the editor changes, and its positions
    analysis                     the compiler, in a process of its own
    hover, navigate, complete    what is answered
    workspace                    all that is open, and when it is compiled
    server                       who asks; a request is a row of its table

Each imports only from those above it.
"""
