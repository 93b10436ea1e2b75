/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The trees on which repairs are measured. */
#ifndef BENCH_TREE_FABRIC_H
#define BENCH_TREE_FABRIC_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>

/* Prints the reason and ends the program. */
_Noreturn void tree_fabric_stop(const struct hd_error *err);

/* An XGFT; the lists as for `heddle topo generate xgft`. To be freed with hd_fabric_free(). An error ends the
 * program. */
struct hd_fabric *tree_fabric(const char *children, const char *parents);

#endif
