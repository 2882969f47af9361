// SPDX-License-Identifier: MIT
/* The objects that compat.h declares. */
#include "compat.h"
