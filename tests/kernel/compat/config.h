/* SPDX-License-Identifier: MIT */
/*
 * For tpgen, which asks the preprocessor: what the kernel's configuration
 * says. None of it is set here; but the question must be understood.
 */
#define IS_ENABLED(option) 0
