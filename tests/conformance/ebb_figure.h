/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CONFORMANCE_EBB_FIGURE_H
#define CONFORMANCE_EBB_FIGURE_H

#include <heddle/fabric.h>

/* The effective bisection bandwidth of tables as `heddle ebb` measures it, 1 for fewer than two hosts.
 * So many random bisections that two measurements of the same fabric can be compared to .001. Prints the
 * reason and exits if that is not possible. */
double ebb_figure(const struct hd_fabric *fabric, const struct hd_routes *routes);

#endif
