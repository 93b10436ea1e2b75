/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writers. All return 0 or a negative errno of the stream. */
#ifndef HEDDLE_FABRIC_WRITE_H
#define HEDDLE_FABRIC_WRITE_H

#include <heddle/fabric/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/fabric/routes.h>
#include <stdio.h>

/*
 * ibnetdiscover's format with GUID, LID, width and speed comments: ibsim loads it and gives
 * its nodes the same GUIDs, and hd_fabric_read() makes the same fabric of it.
 */
int hd_fabric_write_netlist(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

/* Graphviz: switches by level, parallel links as one labelled edge, hosts counted per switch. */
int hd_fabric_write_dot(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err);

/* opensm-lfts.dump form, each row with the destination as its comment. */
int hd_routes_write_dump(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 FILE *stream, struct hd_error *err);

#endif
