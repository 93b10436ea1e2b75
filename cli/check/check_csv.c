/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "check_report.h"
#include "csv.h"

static void write_end(struct csv *csv, const struct hd_fabric *fabric, uint32_t sw, uint32_t port)
{
	csv_text(csv, fabric->node_name[sw]);
	csv_guid(csv, fabric->node_guid[sw]);
	csv_number(csv, port);
}

void check_csv(const struct check_view *view)
{
	const struct hd_fabric *fabric = view->fabric;
	struct csv csv = csv_begin(stdout, "from,from_guid,from_port,to,to_guid,to_port,load");

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		uint32_t far = fabric->isl_reverse[link];
		write_end(&csv, fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
		write_end(&csv, fabric, fabric->isl_to[link], fabric->isl_port[far]);
		csv_number(&csv, view->report->link_flows[link]);
		csv_end_row(&csv);
	}
}
