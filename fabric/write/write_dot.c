/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A drawing of the switches for Graphviz's dot. */
#include "write_stream.h"

#include <errno.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdlib.h>

void hd_dot_write_name(const char *name, FILE *stream)
{
	char plain[PLAIN_NAME_SIZE];

	for (const char *at = write_stream_plain_name(name, plain); *at; at++) {
		if (*at == '\\')
			fputc('\\', stream);
		fputc(*at, stream);
	}
}

static void write_switch(const struct hd_fabric *fabric, uint32_t sw, FILE *stream)
{
	uint32_t hosts = fabric->host_base[sw + 1] - fabric->host_base[sw];

	fprintf(stream, "\ts%u [label=\"", sw);
	hd_dot_write_name(fabric->node_name[sw], stream);
	if (hosts)
		fprintf(stream, "\\n%u host%s", hosts, hosts == 1 ? "" : "s");
	fprintf(stream, "\", tooltip=\"0x%016" PRIx64 "\"];\n", fabric->node_guid[sw]);
}

static void write_level(const struct hd_fabric *fabric, const uint32_t *level, uint32_t wanted,
			FILE *stream)
{
	fputs("\t{ rank=same;", stream);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level[sw] == wanted)
			fprintf(stream, " s%u;", sw);
	fputs(" }\n", stream);
}

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* Draws the edges of one switch that lead upwards, or on its level to a higher index. So each edge
 * is drawn once. */
static void write_edges(const struct hd_fabric *fabric, const uint32_t *level, uint32_t sw,
			FILE *stream)
{
	uint32_t to[HD_PORTS_MAX], count = 0;

	for (uint32_t l = fabric->isl_base[sw]; l < fabric->isl_base[sw + 1]; l++) {
		uint32_t far = fabric->isl_to[l];
		if (level[far] > level[sw] || (level[far] == level[sw] && far > sw))
			to[count++] = far;
	}
	qsort(to, count, sizeof(*to), compare);
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count && to[end] == to[begin];)
			end++;
		fprintf(stream, "\ts%u -- s%u", sw, to[begin]);
		if (end - begin > 1)
			fprintf(stream, " [label=\"%u\", penwidth=2]", end - begin);
		fputs(";\n", stream);
	}
}

int hd_fabric_write_dot(const struct hd_fabric *fabric, FILE *stream, struct hd_error *err)
{
	uint32_t *level = malloc(fabric->switch_count * sizeof(*level)), highest = 0;
	int rc = level ? hd_fabric_levels(fabric, level, err) : hd_error_no_memory(err);

	if (rc) {
		free(level);
		return rc;
	}
	errno = 0;
	fputs("graph fabric {\n\trankdir=BT;\n\tranksep=1.5;\n\tnode [shape=box];\n", stream);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		write_switch(fabric, sw, stream);
		if (level[sw] != HD_NONE && level[sw] > highest)
			highest = level[sw];
	}
	for (uint32_t wanted = 0; wanted <= highest; wanted++)
		write_level(fabric, level, wanted, stream);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		write_edges(fabric, level, sw, stream);
	fputs("}\n", stream);
	free(level);
	return write_stream_finish(stream, err);
}
