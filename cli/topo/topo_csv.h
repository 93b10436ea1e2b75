/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The switches of a fabric as a table for spreadsheets. */
#ifndef CLI_TOPO_CSV_H
#define CLI_TOPO_CSV_H

#include <heddle/fabric.h>

/* Prints a row for each switch. Levels count from 1, as in heddle topo show; a switch that no host
 * reaches has none. Errors: -ENOMEM. */
int topo_csv(const struct hd_fabric *fabric, struct hd_error *err);

#endif
