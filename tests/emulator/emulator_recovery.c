/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_recovery.h"
#include "emulator_attributes.h"
#include "emulator_wire.h"
#include <stdlib.h>

#define KEY 8u
#define RECORD 16u
#define RECORDS 14u
#define PROTECT 0x80u
#define PORTS 256u

enum { TYPE_SHIFT = 5, RECORD_LID = 2, RECORD_KEY = 8 };
enum { CONFIG_FORCE_CLEAR = 12, CONFIG_CLEAR = 14 };

/* ---- what a manager sets ---- */

static uint16_t do_key_info(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	if (modifier)
		return STATUS_INVALID_VALUE;
	if (set) {
		memcpy(sw->key_info, data, 12);
		sw->key_info[8] &= PROTECT;
		sw->key_info[9] = 0;
	}
	memset(data, 0, SWITCH_N2N_DATA);
	memcpy(data, sw->key_info, sizeof(sw->key_info));
	return STATUS_OK;
}

static uint16_t do_neighbours(struct ar_switch *sw, bool set, uint32_t modifier, uint8_t *data)
{
	if (modifier > sw->ports / RECORDS)
		return STATUS_INVALID_VALUE;
	for (uint32_t i = 0; set && i < RECORDS; i++) {
		const uint8_t *record = data + (size_t)RECORD * i;

		if (record[0] >> TYPE_SHIFT > 3 || wire_get16(record + RECORD_LID) >= SWITCH_LIDS)
			return STATUS_INVALID_VALUE;
	}
	if (set)
		memcpy(sw->neighbours[modifier], data, SWITCH_N2N_DATA);
	memcpy(data, sw->neighbours[modifier], SWITCH_N2N_DATA);
	return STATUS_OK;
}

bool recovery_n2n(struct ar_switch *sw, uint8_t method, uint16_t attribute, uint32_t modifier,
		  uint8_t *bytes, uint16_t *status)
{
	const bool set = method == METHOD_SET;

	if (sw->key_info[8] & PROTECT && memcmp(bytes, sw->key_info, KEY) != 0) {
		wire_put16(sw->key_info + 12, (uint16_t)(wire_get16(sw->key_info + 12) + 1));
		return false;
	}
	if (!(sw->info[20] & INFO_NOTICES_SUPPORTED))
		*status = STATUS_UNSUPPORTED_ATTRIBUTE;
	else if (attribute == ATTRIBUTE_KEY_INFO)
		*status = do_key_info(sw, set, modifier, bytes + KEY);
	else if (attribute == ATTRIBUTE_NEIGHBORS_INFO)
		*status = do_neighbours(sw, set, modifier, bytes + KEY);
	else
		*status = STATUS_UNSUPPORTED_ATTRIBUTE;
	return true;
}

/* ---- ports of an entry ---- */

struct ports {
	uint64_t bits[PORTS / 64];
};

static bool has_port(const struct ports *ports, unsigned port)
{
	return ports->bits[port / 64] >> port % 64 & 1;
}

static void add_port(struct ports *ports, unsigned port)
{
	ports->bits[port / 64] |= UINT64_C(1) << port % 64;
}

static bool is_empty(const struct ports *ports)
{
	return !(ports->bits[0] | ports->bits[1] | ports->bits[2] | ports->bits[3]);
}

static void take_out(struct ports *ports, const struct ports *out)
{
	for (unsigned i = 0; i < PORTS / 64; i++)
		ports->bits[i] &= ~out->bits[i];
}

static void add_group(const struct ar_switch *sw, uint32_t group, struct ports *ports)
{
	uint8_t(*masks)[32] = sw->groups[0][0].masks;
	const uint32_t subgroups = switch_subgroups(sw);

	for (uint32_t sub = 0; masks && sub < subgroups; sub++)
		for (unsigned port = 1; port <= sw->ports; port++)
			if (masks[group * subgroups + sub][31 - port / 8] >> port % 8 & 1)
				add_port(ports, port);
}

/* All ports of the entry, whatever their state, and whether it has a choice: it is in a group. */
static struct ports entry_ports(const struct node *node, uint16_t lid, bool *chooses)
{
	struct ar_switch *sw = node->sw;
	struct ports ports = {{0}};

	*chooses = false;
	if (sw && sw->info[3] & INFO_AR_ENABLED) {
		const struct ar_block *block = switch_block(sw, 0, lid / SWITCH_BLOCK_LIDS, false);
		const struct ar_entry *entry =
		    block ? &block->entries[lid % SWITCH_BLOCK_LIDS] : NULL;

		*chooses = entry && entry->state != STATE_STATIC;
		if (*chooses)
			add_group(sw, entry->group, &ports);
		else if (entry && entry->port != 0xFF)
			add_port(&ports, entry->port);
	} else if (node->lft && node->lft[lid] != 0xFF) {
		add_port(&ports, node->lft[lid]);
	}
	return ports;
}

static struct ports down_ports(const struct node *node)
{
	struct ports down = {{0}};

	memcpy(down.bits, node->down, sizeof(down.bits));
	return down;
}

static bool is_told(const struct ar_switch *sw, unsigned port, uint16_t lid)
{
	return sw->told[port] && sw->told[port][lid / 8] >> lid % 8 & 1;
}

static struct ports told_ports(const struct ar_switch *sw, uint16_t lid)
{
	struct ports told = {{0}};

	for (unsigned port = 1; sw->any_told && port <= sw->ports; port++)
		if (is_told(sw, port, lid))
			add_port(&told, port);
	return told;
}

static bool has_notices(const struct node *node)
{
	return node->sw && node->sw->info[22] & INFO_NOTICES_ENABLED;
}

/* ---- notices ---- */

static const uint8_t *record_of(const struct ar_switch *sw, unsigned port)
{
	return sw->neighbours[port / RECORDS] + (size_t)RECORD * (port % RECORDS);
}

static bool is_switch(const uint8_t *record)
{
	return record[0] >> TYPE_SHIFT == NODE_SWITCH;
}

static struct node *node_of_lid(const struct nodes *nodes, uint16_t lid)
{
	for (uint32_t i = 0; lid && i < nodes->count; i++)
		if (nodes->list[i]->lid == lid && nodes->list[i]->sw)
			return nodes->list[i];
	return NULL;
}

/* Leaves a port out for a LID; whether that is new. */
static bool leave_out(struct ar_switch *sw, unsigned port, uint16_t lid, uint64_t now)
{
	if (is_told(sw, port, lid))
		return false;
	if (!sw->told[port])
		sw->told[port] = calloc(SWITCH_LIDS / 8, 1);
	if (!sw->told[port])
		return false;
	if (!sw->any_told)
		sw->cleared_at = now;
	sw->told[port][lid / 8] |= (uint8_t)(1u << lid % 8);
	sw->any_told = true;
	sw->told_at = now;
	return true;
}

/* A switch hears that another one has lost a LID. */
static bool hear(struct nodes *nodes, const struct node *from, struct node *to, const uint8_t *key,
		 uint16_t lid)
{
	bool any = false;

	for (unsigned port = 1; port <= to->sw->ports; port++) {
		const uint8_t *record = record_of(to->sw, port);

		if (!is_switch(record) || wire_get16(record + RECORD_LID) != from->lid)
			continue;
		if (memcmp(record + RECORD_KEY, key, 8) != 0)
			wire_put16(to->sw->key_info + 14,
				   (uint16_t)(wire_get16(to->sw->key_info + 14) + 1));
		else
			any |= leave_out(to->sw, port, lid, nodes->now);
	}
	return any;
}

static bool tell(struct nodes *nodes, const struct node *from, uint16_t lid)
{
	bool any = false;

	for (unsigned port = 1; port <= from->sw->ports; port++) {
		const uint8_t *record = record_of(from->sw, port);
		const bool down = from->down[port / 64] >> port % 64 & 1;
		struct node *to = is_switch(record) && !down
				      ? node_of_lid(nodes, wire_get16(record + RECORD_LID))
				      : NULL;

		if (to && has_notices(to))
			any |= hear(nodes, from, to, record + RECORD_KEY, lid);
	}
	return any;
}

static bool has_lost(const struct node *node, uint16_t lid)
{
	const struct ports down = down_ports(node), told = told_ports(node->sw, lid);
	bool chooses;
	struct ports left = entry_ports(node, lid, &chooses);

	if (is_empty(&left) || has_port(&left, 0))
		return false;
	take_out(&left, &down);
	take_out(&left, &told);
	return is_empty(&left);
}

static bool is_affected(const struct node *node)
{
	const struct ports down = down_ports(node);

	return !is_empty(&down) || node->sw->any_told;
}

static bool tell_all(struct nodes *nodes, struct node *node)
{
	bool any = false;

	if (!has_notices(node) || !is_affected(node))
		return false;
	for (uint32_t lid = 1; lid <= nodes->top_lid; lid++)
		if (has_lost(node, (uint16_t)lid))
			any |= tell(nodes, node, (uint16_t)lid);
	return any;
}

void recovery_port(struct nodes *nodes, struct node *node, uint8_t port, bool down)
{
	const uint64_t bit = UINT64_C(1) << port % 64;
	bool any = down;

	if (down)
		node->down[port / 64] |= bit;
	else
		node->down[port / 64] &= ~bit;
	while (any) {
		any = false;
		for (uint32_t i = 0; i < nodes->count; i++)
			any |= nodes->list[i]->sw && tell_all(nodes, nodes->list[i]);
	}
}

void recovery_forget(struct ar_switch *sw)
{
	for (unsigned port = 0; port < PORTS; port++) {
		free(sw->told[port]);
		sw->told[port] = NULL;
	}
	sw->any_told = false;
}

void recovery_pass(struct nodes *nodes, uint64_t seconds)
{
	nodes->now += seconds;
	for (uint32_t i = 0; i < nodes->count; i++) {
		struct ar_switch *sw = nodes->list[i]->sw;

		if (sw && sw->any_told &&
		    (nodes->now - sw->told_at >= wire_get16(sw->pfrn + CONFIG_CLEAR) ||
		     nodes->now - sw->cleared_at >= wire_get16(sw->pfrn + CONFIG_FORCE_CLEAR)))
			recovery_forget(sw);
	}
}

/* ---- JSON ---- */

static void put_lids(FILE *out, const uint8_t *bits)
{
	const char *comma = "";

	fputc('[', out);
	for (uint32_t lid = 0; lid < SWITCH_LIDS; lid++) {
		if (!(bits[lid / 8] >> lid % 8 & 1))
			continue;
		fprintf(out, "%s%u", comma, lid);
		comma = ",";
	}
	fputc(']', out);
}

static void put_port_list(FILE *out, const struct ports *ports)
{
	const char *comma = "";

	fputc('[', out);
	for (unsigned port = 0; port < PORTS; port++) {
		if (!has_port(ports, port))
			continue;
		fprintf(out, "%s%u", comma, port);
		comma = ",";
	}
	fputc(']', out);
}

void recovery_put(FILE *out, const struct node *node)
{
	const struct ar_switch *sw = node->sw;
	const struct ports down = down_ports(node);
	const char *comma = "";

	fprintf(out, "{\"local\":%s,\"notices\":%s,\"violations\":[%u,%u],\"down\":",
		sw && sw->info[3] & INFO_RECOVERY_ENABLED ? "true" : "false",
		has_notices(node) ? "true" : "false", sw ? wire_get16(sw->key_info + 12) : 0,
		sw ? wire_get16(sw->key_info + 14) : 0);
	put_port_list(out, &down);
	fputs(",\"told\":{", out);
	for (unsigned port = 0; sw && port < PORTS; port++) {
		if (!sw->told[port])
			continue;
		fprintf(out, "%s\"%u\":", comma, port);
		put_lids(out, sw->told[port]);
		comma = ",";
	}
	fputs("}}", out);
}

void recovery_put_ports(FILE *out, const struct node *node, uint16_t lid)
{
	bool chooses;
	struct ports left = entry_ports(node, lid, &chooses);

	if (chooses && node->sw->info[3] & INFO_RECOVERY_ENABLED) {
		const struct ports down = down_ports(node);
		take_out(&left, &down);
	}
	if (chooses && has_notices(node)) {
		const struct ports told = told_ports(node->sw, lid);
		take_out(&left, &told);
	}
	put_port_list(out, &left);
}
