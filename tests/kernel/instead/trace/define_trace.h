/* SPDX-License-Identifier: MIT */
/* Stands in front of the kernel's, which would read each trace header again and again for what oracle.h does not ask. */
