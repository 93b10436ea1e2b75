/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics on which engines differ: trees that are not as they should be, and fabrics that are none. */
#ifndef CONFORMANCE_UNEVEN_H
#define CONFORMANCE_UNEVEN_H

#include <heddle/fabric.h>

#define UNEVEN_KINDS 6u
#define UNEVEN_NAME 160u

/* Fabric number n; `name` says what it is. Prints the reason and exits if there is an error. */
struct hd_fabric *uneven_fabric(uint64_t number, char name[UNEVEN_NAME]);

#endif
