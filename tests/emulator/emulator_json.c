/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_json.h"
#include "emulator_wire.h"
#include <inttypes.h>

void json_counts(FILE *out, const struct mad_counts *counts)
{
	fputc('[', out);
	for (uint32_t i = 0; i < counts->count; i++) {
		const struct mad_count *count = &counts->counts[i];

		fprintf(out, "%s[%u,\"%s\",%" PRIu64 "]", i ? "," : "", count->attribute,
			count->method == METHOD_SET ? "set" : "get", count->seen);
	}
	fputc(']', out);
}

static void put_bytes(FILE *out, const char *name, const uint8_t *bytes, unsigned count)
{
	fprintf(out, "\"%s\":\"", name);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "%02x", bytes[i]);
	fputc('"', out);
}

static void put_info(FILE *out, const struct ar_switch *sw)
{
	uint32_t groups = wire_get32(sw->info + 4);

	fprintf(out,
		"\"enabled\":%s,\"subgroups\":%u,\"group_top\":%u,\"group_cap\":%u,"
		"\"by_sl\":%s,\"sl_mask\":%u,\"transport_disable\":%u,\"ageing_time\":%u,",
		sw->info[3] & 1 ? "true" : "false", switch_subgroups(sw), groups >> 12 & 0xFFF,
		groups & 0xFFF, sw->info[0] & 1 << 4 ? "true" : "false", wire_get16(sw->info + 8),
		sw->info[15] & 0x0F, wire_get32(sw->info + 16));
	put_bytes(out, "info", sw->info, SWITCH_RECORD);
}

static void put_ports(FILE *out, const uint8_t *mask)
{
	const char *comma = "";

	fputc('[', out);
	for (unsigned port = 0; port < 256; port++) {
		if (!(mask[31 - port / 8] >> port % 8 & 1))
			continue;
		fprintf(out, "%s%u", comma, port);
		comma = ",";
	}
	fputc(']', out);
}

/* The groups of one table that have ports: [pLFT, table, group, sub-group, [ports]]. */
static void put_group_table(FILE *out, const struct ar_switch *sw, uint32_t plft, uint32_t table,
			    const char **comma)
{
	static const uint8_t none[32];

	uint8_t(*masks)[32] = sw->groups[plft][table].masks;
	uint32_t subgroups = switch_subgroups(sw);

	for (uint32_t i = 0; masks && i < switch_group_count(sw); i++) {
		if (!memcmp(masks[i], none, sizeof(none)))
			continue;
		fprintf(out, "%s[%u,%u,%u,%u,", *comma, plft, table, i / subgroups, i % subgroups);
		put_ports(out, masks[i]);
		fputc(']', out);
		*comma = ",";
	}
}

/* The entries of blocks that were ever set: [pLFT, LID, state, port, table, group]. */
static void put_block(FILE *out, uint32_t plft, uint32_t block, const struct ar_block *content,
		      const char **comma)
{
	for (uint32_t i = 0; i < SWITCH_BLOCK_LIDS; i++) {
		const struct ar_entry *entry = &content->entries[i];

		fprintf(out, "%s[%u,%u,%u,%u,%u,%u]", *comma, plft, block * SWITCH_BLOCK_LIDS + i,
			entry->state, entry->port, entry->table, entry->group);
		*comma = ",";
	}
}

static void put_tables(FILE *out, const struct ar_switch *sw)
{
	const char *comma = "";

	fputs(",\"groups\":[", out);
	for (uint32_t plft = 0; plft < SWITCH_PLFTS_MAX; plft++)
		for (uint32_t table = 0; table < SWITCH_GROUP_TABLES; table++)
			put_group_table(out, sw, plft, table, &comma);
	fputs("],\"lft\":[", out);
	comma = "";
	for (uint32_t plft = 0; plft < SWITCH_PLFTS_MAX; plft++)
		for (uint32_t block = 0; sw->lft[plft] && block < SWITCH_BLOCKS; block++)
			if (sw->lft[plft][block])
				put_block(out, plft, block, sw->lft[plft][block], &comma);
	fputc(']', out);
}

static void put_private(FILE *out, const struct ar_switch *sw)
{
	fputc(',', out);
	put_bytes(out, "plft_info", sw->plft_info, SWITCH_RECORD);
	fputc(',', out);
	put_bytes(out, "plft_definition", sw->plft_definition[0], sizeof(sw->plft_definition));
	fputs(",\"plft_map\":{", out);
	for (uint32_t plft = 0; plft < sw->can.plfts; plft++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", plft);
		fputs(plft ? "," : "", out);
		put_bytes(out, name, sw->plft_map[plft], SWITCH_RECORD);
	}
	fputs("},\"sl_to_plft\":[", out);
	for (uint32_t port = 0; port <= sw->ports; port++) {
		fprintf(out, "%s[", port ? "," : "");
		for (uint32_t sl = 0; sl < 16; sl++)
			fprintf(out, "%s%u", sl ? "," : "",
				sw->sl_to_plft[port / 4][port % 4 * 16 + sl]);
		fputc(']', out);
	}
	fputc(']', out);
}

void json_tables(FILE *out, const struct node *node)
{
	fputc('{', out);
	if (node->sw) {
		put_info(out, node->sw);
		put_tables(out, node->sw);
		put_private(out, node->sw);
	}
	fputc('}', out);
}
