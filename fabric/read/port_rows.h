/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fabrics from rows of ports: what the readers of ibnetdiscover -p and of iblinkinfo share. A row
 * has a port and the port at the other end of its cable.
 *
 * The GUIDs are port GUIDs. A switch has one for all its ports, a channel adapter one for each
 * port. The rows have no node GUIDs, port counts and LMCs, so they are derived. A switch's port
 * GUID stands for its node GUID. Ports belong to one adapter if they have one GUID, or if they have
 * the same name and their GUIDs differ as their port numbers do, which is how vendors number them.
 * The GUID of its first port stands for the adapter's. A node has as many ports as the highest
 * number seen. All LMCs are 0. The rows do not say which device a node is: an adapter is taken for
 * an aggregation node if its name says so.
 */
#ifndef FABRIC_PORT_ROWS_H
#define FABRIC_PORT_ROWS_H

#include "topology_reader.h"

#include <heddle/base/lookup.h>

struct port_end {
	uint64_t guid;
	uint32_t lid, port;
	enum hd_node_type type;
	struct hd_cursor name;
};

struct port_row {
	struct port_end near, far;
	bool cabled;
	unsigned line;
	uint8_t width, speed;
};

struct port_owner;

/* Zero-initialise but for the reader. */
struct port_rows {
	struct topology_reader *reader;
	struct port_row *rows;
	uint32_t row_count, row_room;
	struct port_owner *owners;
	uint32_t owner_count, owner_room;
	/* By_node: adapters, by their name and (GUID - port number) */
	struct hd_lookup by_guid, by_node;
};

/* Keeps a row; the names in it must outlive the rows. Errors: -ENOMEM. */
int port_rows_keep(struct port_rows *rows, const struct port_row *row);

/*
 * Puts all rows into the builder. Errors: -EINVAL a GUID belongs to two kinds of nodes; those of the
 * builder; -ENOMEM. Expected cost: O(rows).
 */
int port_rows_build(struct port_rows *rows);

void port_rows_release(struct port_rows *rows);

#endif
