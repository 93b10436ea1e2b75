/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topo_csv.h"
#include "csv.h"

#include <stdlib.h>

static void write_switch(struct csv *csv, const struct hd_fabric *fabric, uint32_t sw,
			 uint32_t level)
{
	csv_text(csv, fabric->node_name[sw]);
	csv_guid(csv, fabric->node_guid[sw]);
	csv_number(csv, fabric->lid[hd_port_index(fabric, sw, 0)]);
	if (level == HD_NONE)
		csv_empty(csv);
	else
		csv_number(csv, level);
	csv_number(csv, hd_node_ports(fabric, sw));
	csv_number(csv, fabric->host_base[sw + 1] - fabric->host_base[sw]);
	csv_number(csv, fabric->isl_base[sw + 1] - fabric->isl_base[sw]);
	csv_end_row(csv);
}

int topo_csv(const struct hd_fabric *fabric, struct hd_error *err)
{
	uint32_t *level = malloc(fabric->switch_count * sizeof(*level));
	int rc = level ? hd_fabric_levels(fabric, level, err) : hd_error_no_memory(err);

	if (!rc) {
		struct csv csv = csv_begin(stdout, "switch,guid,lid,level,ports,hosts,links");
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			write_switch(&csv, fabric, sw, level[sw]);
	}
	free(level);
	return rc;
}
