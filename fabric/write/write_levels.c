/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The dump of service levels:
 *
 *   SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
 *   Service levels at switch guid 0x0000000000200000 ('leaf1'):
 *   0x0004-0x0011 0
 *   0x0012 1
 *   2 runs dumped
 *   1 switches dumped
 */
#include "service_level_text.h"
#include "write_stream.h"

#include <errno.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdlib.h>

static void write_run(uint32_t first, uint32_t last, unsigned level, FILE *stream)
{
	if (first == last)
		fprintf(stream, "0x%04x %u\n", first, level);
	else
		fprintf(stream, "0x%04x-0x%04x %u\n", first, last, level);
}

/* The runs of one switch; their number. LIDs of no host end no run. */
static uint32_t write_runs(const uint8_t *levels, const bool *of_host, uint32_t lids, FILE *stream)
{
	uint32_t first = 0, last = 0, runs = 0;

	for (uint32_t lid = 1; lid < lids; lid++) {
		if (!of_host[lid])
			continue;
		if (first && levels[lid] != levels[first]) {
			write_run(first, last, levels[first], stream);
			first = 0;
		}
		runs += !first;
		first = first ? first : lid;
		last = lid;
	}
	if (first)
		write_run(first, last, levels[first], stream);
	return runs;
}

static void write_switch(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 const bool *of_host, uint32_t sw, FILE *stream)
{
	char name[PLAIN_NAME_SIZE];

	fprintf(stream, "Service levels at switch guid 0x%016" PRIx64 " ('%s'):\n",
		fabric->node_guid[sw], write_stream_plain_name(fabric->node_name[sw], name));
	fprintf(stream, "%u runs dumped\n",
		write_runs(routes->sl + (size_t)sw * routes->stride, of_host, routes->lid_count,
			   stream));
}

static uint32_t write_switches(const struct hd_fabric *fabric, const struct hd_routes *routes,
			       const bool *of_host, FILE *stream)
{
	uint32_t written = 0;

	for (uint32_t sw = 0; sw < routes->switch_count && !ferror(stream); sw++) {
		if (!hd_has_adapters(fabric, sw))
			continue;
		write_switch(fabric, routes, of_host, sw, stream);
		written++;
	}
	return written;
}

int hd_routes_write_levels(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   FILE *stream, struct hd_error *err)
{
	bool *of_host = hd_fabric_adapter_lids(fabric);
	uint32_t written = 0;

	if (!of_host)
		return hd_error_no_memory(err);
	errno = 0;
	fputs(SERVICE_MAP_HEAD, stream);
	for (unsigned level = 0; level < SERVICE_LEVELS; level++)
		fprintf(stream, " %u", routes->sl2vl[level]);
	fputc('\n', stream);
	if (routes->sl)
		written = write_switches(fabric, routes, of_host, stream);
	fprintf(stream, "%u switches dumped\n", written);
	free(of_host);
	return write_stream_finish(stream, err);
}
