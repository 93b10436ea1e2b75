/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "replay_fabric.h"

#include <stdlib.h>
#include <string.h>

_Noreturn void fail(const char *what, const char *name)
{
	fprintf(stderr, "heddle-replay: %s: %s\n", name, what);
	exit(2);
}

void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		fail("no memory", "calloc");
	return memory;
}

/* ---- nodes ---- */

static struct node_key key_of(const char *name)
{
	const char *dash = strchr(name, '-');

	return (struct node_key){name[0] != 'S', strtoull(dash ? dash + 1 : name, NULL, 16)};
}

static int compare_keys(const void *left, const void *right)
{
	const struct node_key *a = left, *b = right;

	if (a->adapter != b->adapter)
		return a->adapter ? 1 : -1;
	return (a->guid > b->guid) - (a->guid < b->guid);
}

static uint32_t find(const struct fabric *fabric, struct node_key key)
{
	const struct node_key *found =
	    bsearch(&key, fabric->key, fabric->nodes, sizeof(key), compare_keys);

	return found ? (uint32_t)(found - fabric->key) : NONE;
}

uint32_t fabric_node(const struct fabric *fabric, const char *name)
{
	return find(fabric, key_of(name));
}

uint32_t fabric_switch(const struct fabric *fabric, uint64_t guid)
{
	return find(fabric, (struct node_key){false, guid});
}

/* Whether a line begins a node; then the place of its name. */
static const char *head_of(const char *line)
{
	static const char *const words[] = {"Switch\t", "Ca\t", "Hca\t", "Rt\t"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(line, words[i], strlen(words[i]))) {
			const char *quote = strchr(line, '"');
			return quote ? quote + 1 : NULL;
		}
	return NULL;
}

static void read_nodes(struct fabric *fabric, FILE *file)
{
	uint32_t room = 0;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, file) > 0) {
		const char *name = head_of(line);
		if (!name)
			continue;
		if (fabric->nodes == room) {
			room = room ? 2 * room : 1024;
			fabric->key = realloc(fabric->key, room * sizeof(*fabric->key));
			if (!fabric->key)
				fail("no memory", "realloc");
		}
		fabric->key[fabric->nodes++] = key_of(name);
	}
	free(line);
	qsort(fabric->key, fabric->nodes, sizeof(*fabric->key), compare_keys);
	while (fabric->switches < fabric->nodes && !fabric->key[fabric->switches].adapter)
		fabric->switches++;
}

static void make_room(struct fabric *fabric)
{
	const size_t nodes = fabric->nodes;

	fabric->system = allocate(nodes, sizeof(*fabric->system));
	fabric->far = allocate(nodes * PORTS, sizeof(*fabric->far));
	fabric->owner = allocate(LIDS, sizeof(*fabric->owner));
	fabric->place = allocate(LIDS, sizeof(*fabric->place));
	fabric->dead = allocate(nodes, sizeof(*fabric->dead));
	fabric->seen = allocate(nodes, sizeof(*fabric->seen));
	fabric->cables = allocate(fabric->switches, sizeof(*fabric->cables));
	fabric->links = allocate(fabric->switches, sizeof(*fabric->links));
	fabric->sends = allocate(fabric->switches, sizeof(*fabric->sends));
	fabric->kind = allocate(LIDS, sizeof(*fabric->kind));
	memset(fabric->far, 0xFF, nodes * PORTS * sizeof(*fabric->far));
	memset(fabric->owner, 0xFF, LIDS * sizeof(*fabric->owner));
	memset(fabric->place, 0xFF, LIDS * sizeof(*fabric->place));
}

/* ---- cables and LIDs ---- */

/* The LIDs of a port, of which `text` says "lid N lmc N". `end` is that port, NONE: port 0 of a switch. */
static void read_lids(struct fabric *fabric, const char *text, uint32_t node, uint32_t end)
{
	const char *at = text ? strstr(text, "lid ") : NULL;
	unsigned base, lmc;

	if (!at || sscanf(at, "lid %u lmc %u", &base, &lmc) != 2 || !base)
		return;
	for (uint32_t lid = base; lid < base + (1u << lmc) && lid < LIDS; lid++) {
		fabric->owner[lid] = node;
		fabric->place[lid] = end; /* the other end of that cable, later */
		if (lid >= fabric->lids)
			fabric->lids = lid + 1;
	}
}

/* A line of a port, such as: [1](1003f1) "S-00000000002000f0"[4]   # lid 308 lmc 2 ... */
static void read_port(struct fabric *fabric, const char *line, uint32_t node)
{
	const char *quote = strchr(line, '"'), *bracket = quote ? strchr(quote, '[') : NULL;
	const unsigned long port = strtoul(line + 1, NULL, 10);
	const unsigned long far_port = bracket ? strtoul(bracket + 1, NULL, 10) : PORTS;
	const uint32_t far = quote ? fabric_node(fabric, quote + 1) : NONE;

	if (port >= PORTS || far_port >= PORTS || far == NONE)
		fail("a port above 63, or a line that is not of ibnetdiscover", line);
	const uint32_t end = node * PORTS + (uint32_t)port;
	fabric->far[end] = far * PORTS + (uint32_t)far_port;
	fabric->far[fabric->far[end]] = end;
	if (port >= fabric->ports)
		fabric->ports = (uint32_t)port + 1;
	if (far_port >= fabric->ports)
		fabric->ports = (uint32_t)far_port + 1;
	if (node >= fabric->switches)
		read_lids(fabric, strchr(bracket, '#'), node, end);
}

static void read_ports(struct fabric *fabric, FILE *file)
{
	uint32_t node = NONE;
	uint64_t system = 0;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, file) > 0) {
		const char *name = head_of(line);
		if (!strncmp(line, "sysimgguid=", 11))
			system = strtoull(line + 11, NULL, 16);
		if (name) {
			node = fabric_node(fabric, name);
			fabric->system[node] = system;
			system = 0;
			if (node < fabric->switches)
				read_lids(fabric, strstr(line, "port 0 lid"), node, NONE);
		}
		if (line[0] == '[' && node != NONE)
			read_port(fabric, line, node);
	}
	free(line);
}

void fabric_read(struct fabric *fabric, const char *path, const char *home)
{
	FILE *file = fopen(path, "r");

	if (!file)
		fail("cannot be read", path);
	read_nodes(fabric, file);
	make_room(fabric);
	rewind(file);
	read_ports(fabric, file);
	fclose(file);
	for (uint32_t lid = 0; lid < LIDS; lid++) {
		const uint32_t end = fabric->place[lid];
		const uint32_t far = end == NONE ? NONE : fabric->far[end];
		fabric->place[lid] = far != NONE && far / PORTS < fabric->switches ? far : NONE;
	}
	fabric->home = fabric_node(fabric, home);
	if (fabric->home == NONE || !fabric->lids)
		fail("no such node in the fabric, or no LIDs", home);
	for (uint32_t end = 0; end < fabric->switches * PORTS; end++)
		if (fabric->far[end] != NONE && fabric->far[end] / PORTS < fabric->switches)
			fabric->cables[end / PORTS] |= UINT64_C(1) << end % PORTS;
	fabric_look(fabric);
}

/* ---- what is there ---- */

static bool is_alive(const struct fabric *fabric, uint32_t end)
{
	const uint32_t far = fabric->far[end];

	return far != NONE && !(fabric->dead[end / PORTS] >> end % PORTS & 1) &&
	       !(fabric->dead[far / PORTS] >> far % PORTS & 1);
}

static void see(struct fabric *fabric)
{
	uint32_t *queue = allocate(fabric->nodes, sizeof(*queue)), count = 0;

	memset(fabric->seen, 0, fabric->nodes);
	fabric->seen[fabric->home] = true;
	queue[count++] = fabric->home;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t port = 0; port < PORTS; port++) {
			const uint32_t end = queue[i] * PORTS + port;
			if (!is_alive(fabric, end) || fabric->seen[fabric->far[end] / PORTS])
				continue;
			queue[count] = fabric->far[end] / PORTS;
			fabric->seen[queue[count++]] = true;
		}
	free(queue);
}

static bool has_system(const struct fabric *fabric, uint64_t system)
{
	for (uint32_t sw = 0; sw < fabric->switches; sw++)
		if (fabric->system[sw] == system)
			return true;
	return false;
}

/* Of an adapter that is there. */
static enum kind adapter_kind(const struct fabric *fabric, uint32_t node)
{
	return fabric->system[node] && has_system(fabric, fabric->system[node]) ? KIND_ASIDE
										: KIND_HOST;
}

static void look_at_lids(struct fabric *fabric)
{
	memset(fabric->sends, 0, fabric->switches);
	for (uint32_t lid = 0; lid < fabric->lids; lid++) {
		const uint32_t owner = fabric->owner[lid], place = fabric->place[lid];
		fabric->kind[lid] = KIND_NONE;
		if (owner == NONE || !fabric->seen[owner])
			continue;
		fabric->kind[lid] = KIND_LOOSE;
		if (place == NONE || !is_alive(fabric, place))
			continue;
		fabric->kind[lid] = (uint8_t)adapter_kind(fabric, owner);
		fabric->sends[place / PORTS] = true;
	}
}

void fabric_look(struct fabric *fabric)
{
	see(fabric);
	look_at_lids(fabric);
	fabric->all_send = true;
	for (uint32_t sw = 0; sw < fabric->switches; sw++) {
		fabric->links[sw] = 0;
		for (uint32_t port = 0; port < PORTS && fabric->seen[sw]; port++)
			if (is_alive(fabric, sw * PORTS + port) &&
			    fabric_next(fabric, sw, port) < fabric->switches)
				fabric->links[sw] |= UINT64_C(1) << port;
		fabric->all_send = fabric->all_send && (!fabric->seen[sw] || fabric->sends[sw]);
	}
}

uint32_t fabric_follow(const struct fabric *fabric, const uint8_t *route, uint8_t hops)
{
	uint32_t node = fabric->home;

	if (hops >= PORTS)
		return NONE;
	for (uint8_t i = 1; i <= hops; i++) {
		if (route[i] >= PORTS || !is_alive(fabric, node * PORTS + route[i]))
			return NONE;
		node = fabric->far[node * PORTS + route[i]] / PORTS;
	}
	return node;
}
