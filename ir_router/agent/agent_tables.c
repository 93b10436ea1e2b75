/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_parts.h"

#include <heddle/base/plain.h>
#include <inttypes.h>
#include <router_query.h>
#include <router_relay.h>
#include <stdio.h>
#include <string.h>

static json_t *hex(uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, number);
	return json_string(text);
}

static json_t *gid_text(uint64_t prefix, uint64_t guid)
{
	char text[48];
	int used = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t half = i < 4 ? prefix : guid;

		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%x", i ? ":" : "",
				 (unsigned)(half >> (48 - 16 * (i % 4)) & 0xFFFF));
	}
	return json_string(text);
}

static json_t *port_guid(const struct hd_router_lists *lists, uint16_t port)
{
	return port == HD_ROUTER_NO_PORT ? json_string("-") : hex(lists->ports[port].guid);
}

static void add_subnets(const struct agent_state *state, json_t *rows)
{
	for (uint32_t s = 0; s < state->link_count; s++) {
		const struct agent_link *link = &state->links[s];
		const struct hd_router_lists *lists = hd_router_lists_of(state->router, (uint8_t)s);
		char address[512]; /* plain: JSON has no other bytes than UTF-8 */
		uint32_t counts[5];

		hd_router_count_states(state->router, (uint8_t)s, counts);
		json_array_append_new(
		    rows,
		    json_pack("{so ss ss sI si si si si sI sI}", "prefix", hex(link->prefix),
			      "socket", hd_plain(link->address, address, sizeof(address)),
			      "session", agent_link_is_open(link) ? "open" : "connecting", "epoch",
			      (json_int_t)lists->epoch, "ports", (int)lists->port_count, "hosts",
			      (int)lists->host_count, "isfr", (int)counts[HD_ROUTER_CONFIRMED],
			      "mapped", (int)lists->map_count, "connections",
			      (json_int_t)link->connections, "refused", (json_int_t)link->refused));
	}
}

static const char *const phases[] = {"idle", "node", "scan", "block"};

static void add_ports(const struct agent_state *state, json_t *rows)
{
	for (uint32_t s = 0; s < state->link_count; s++) {
		const struct hd_router_lists *lists = hd_router_lists_of(state->router, (uint8_t)s);

		for (uint32_t p = 0; p < lists->port_count; p++) {
			const struct hd_router_port *port = &lists->ports[p];

			json_array_append_new(
			    rows, json_pack("{so so si so si si ss ss}", "prefix",
					    hex(state->links[s].prefix), "port", hex(port->guid),
					    "lid", port->lid, "switch", hex(port->switch_guid),
					    "switch_lid", port->switch_lid, "switch_port",
					    port->switch_port, "query", phases[port->query.phase],
					    "table", port->query.trusted ? "read" : "not read"));
		}
	}
}

static const char *const states[] = {"not asked", "seen once", "confirmed", "not down",
				     "no answer"};

static void add_hosts(const struct agent_state *state, json_t *rows)
{
	for (uint32_t s = 0; s < state->link_count; s++) {
		const struct hd_router_lists *lists = hd_router_lists_of(state->router, (uint8_t)s);

		for (uint32_t i = 0; i < lists->host_count; i++) {
			const struct hd_router_host *host = &lists->hosts[i];
			uint16_t port = hd_router_confirmed_port(state->router, (uint8_t)s, host);

			json_array_append_new(
			    rows, json_pack("{so si so ss so si ss}", "gid",
					    gid_text(state->links[s].prefix, host->guid), "lid",
					    host->lid, "top_switch", hex(host->top_switch),
					    "egress", port == HD_ROUTER_NO_PORT ? "issr" : "isfr",
					    "port", port_guid(lists, port), "entry", host->entry,
					    "state", states[host->state]));
		}
	}
}

static void add_map(const struct agent_state *state, json_t *rows)
{
	for (uint32_t s = 0; s < state->link_count && state->router->limits.mapped; s++) {
		const struct hd_router_lists *lists = hd_router_lists_of(state->router, (uint8_t)s);

		for (uint32_t i = 0; i < lists->map_count; i++)
			json_array_append_new(
			    rows,
			    json_pack("{so so so}", "prefix", hex(state->links[s].prefix), "gid",
				      gid_text(lists->map[i].gid.prefix, lists->map[i].gid.guid),
				      "port", hex(lists->map[i].port_guid)));
	}
}

static void add_prefixes(const struct agent_state *state, json_t *rows)
{
	const struct hd_router_prefixes *prefixes = &state->router->prefixes;

	for (uint32_t s = 0; s < state->link_count; s++)
		json_array_append_new(rows,
				      json_pack("{so si ss ss si ss}", "prefix",
						hex(state->links[s].prefix), "hops", 0, "via", "-",
						"port", "-", "lid", 0, "source", "attached"));
	for (uint16_t i = 0; i < prefixes->count; i++) {
		const struct hd_router_prefix_row *row = &prefixes->rows[i];

		json_array_append_new(
		    rows, json_pack("{so si so so si ss}", "prefix", hex(row->prefix), "hops",
				    row->hops, "via", hex(state->links[row->subnet].prefix), "port",
				    hex(row->port_guid), "lid", row->lid, "source",
				    row->is_static ? "static" : "learned"));
	}
}

static void add_counters(const struct agent_state *state, json_t *rows)
{
	const struct hd_router_counts *counts = &state->router->counts;

	const struct {
		const char *name;
		uint64_t value;
	} all[] = {{"smps sent", counts->asked},
		   {"answers", counts->answered},
		   {"late answers", counts->late},
		   {"unanswered", counts->unanswered}};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		json_array_append_new(rows, json_pack("{ss sI}", "counter", all[i].name, "value",
						      (json_int_t)all[i].value));
}

static const struct table {
	const char *name, *summary;
	void (*add)(const struct agent_state *state, json_t *rows);
} tables[] = {
    {"subnets", "the attached subnets and the connections to their plugins", add_subnets},
    {"ports", "the router's ports and the switches behind them", add_ports},
    {"hosts", "the hosts of attached subnets and their egress ports", add_hosts},
    {"map", "the router port of each foreign GID, as the plugins say", add_map},
    {"prefixes", "how each subnet is reached", add_prefixes},
    {"counters", "SMPs to switches", add_counters},
};

bool agent_tables_at(unsigned index, const char **name, const char **summary)
{
	if (index >= sizeof(tables) / sizeof(tables[0]))
		return false;
	*name = tables[index].name;
	*summary = tables[index].summary;
	return true;
}

json_t *agent_tables_make(const struct agent_state *state, const char *name)
{
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		json_t *rows;

		if (strcmp(tables[i].name, name))
			continue;
		rows = json_array();
		if (rows)
			tables[i].add(state, rows);
		return rows;
	}
	return json_pack("{ss}", "error", "unknown table");
}
