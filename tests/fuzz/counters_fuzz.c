/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as counters of the ports of a small fabric. What is accepted must survive being written and read
 * again, and loads of links follow from it. */
#include "fuzzing.h"

#include <heddle/analysis/counters.h>
#include <math.h>
#include <stdio.h>

static const char topology[] =
    "switchguid=0x200000(200000)\n"
    "Switch 5 \"S-0000000000200000\" # \"S1_0\" base port 0 lid 13 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"H_0_0\" lid 1 4xEDR\n"
    "[4] \"S-0000000000200040\"[1] # \"S2_0\" lid 17 4xEDR\n"
    "switchguid=0x200040(200040)\n"
    "Switch 4 \"S-0000000000200040\" # \"S2_0\" base port 0 lid 17 lmc 0\n"
    "[1] \"S-0000000000200000\"[4] # \"S1_0\" lid 13 4xEDR\n"
    "[2] \"H-0000000000100010\"[1](100011) # \"H_0_1\" lid 2 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"H_0_0\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 1 lmc 0 \"S1_0\" lid 13 4xEDR\n"
    "Ca 1 \"H-0000000000100010\" # \"H_0_1\"\n"
    "[1](100011) \"S-0000000000200040\"[2] # lid 2 lmc 0 \"S2_0\" lid 17 4xEDR\n";

static uint32_t count_known(const struct hd_counters *counters)
{
	uint32_t count = 0;

	for (uint32_t port = 0; port < counters->port_count; port++) {
		count += counters->ports[port].known != 0;
		demand(counters->ports[port].known < HD_COUNTER_BIT(HD_COUNTERS));
		for (unsigned i = 0; i < HD_COUNTERS; i++)
			demand((counters->ports[port].known & HD_COUNTER_BIT(i)) ||
			       !counters->ports[port].value[i]);
	}
	return count;
}

static void check_round_trip(const struct hd_fabric *fabric, const struct hd_counters *counters)
{
	char *bytes = NULL;
	size_t length = 0;
	struct hd_counters *again = NULL;
	FILE *stream = open_memstream(&bytes, &length);

	demand(stream != NULL);
	hd_counters_write(counters, fabric, stream);
	fclose(stream);
	const struct hd_text text = {.bytes = bytes, .length = length, .name = "again"};
	int rc = hd_counters_parse(&text, fabric, NULL, &again, NULL);
	demand(!rc == (counters->ports_read > 0));
	for (uint32_t port = 0; !rc && port < counters->port_count; port++) {
		demand(again->ports[port].known == counters->ports[port].known);
		demand(!memcmp(again->ports[port].value, counters->ports[port].value,
			       sizeof(again->ports[port].value)));
	}
	hd_counters_free(again);
	free(bytes);
}

static void check_links(const struct hd_fabric *fabric, struct hd_counters *counters)
{
	struct hd_measured *measured = NULL;

	demand(hd_measured_new(fabric, counters, &measured, NULL) == 0);
	for (uint32_t link = 0; link < measured->link_count; link++) {
		const struct hd_measured_link *row = &measured->links[link];
		demand(!isnan(row->share) && !isnan(row->wait) && !isnan(row->bytes) &&
		       row->capacity >= 0);
	}
	hd_measured_free(measured);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hd_fabric *fabric = fabric_of(topology);
	const struct hd_text text = {
	    .bytes = (const char *)data, .length = size, .name = "counters"};
	struct hd_counters *counters = NULL, *other = NULL;
	struct hd_error err = {""};

	if (hd_counters_parse(&text, fabric, NULL, &counters, &err)) {
		demand(!counters && err.text[0]);
		return 0;
	}
	demand(count_known(counters) == counters->ports_read);
	check_round_trip(fabric, counters);
	check_links(fabric, counters);
	demand(hd_counters_parse(&text, fabric, NULL, &other, NULL) == 0);
	hd_counters_subtract(counters, other);
	for (uint32_t port = 0; port < counters->port_count; port++)
		for (unsigned i = 0; i < HD_COUNTERS; i++)
			demand(!counters->ports[port].value[i]);
	hd_counters_free(other);
	hd_counters_free(counters);
	return 0;
}
