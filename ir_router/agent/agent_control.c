/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket of heddle-router: a client sends a line with the name of a table, gets the table as JSON, and the
 * connection ends. on_client() takes a connection, on_line() answers, and on_written() or on_end() closes it. A client
 * that is silent for PATIENCE_S is closed. At most CLIENTS_MOST are served: one more takes the place of the oldest, so
 * that idle clients neither keep others out nor use up the descriptors that the router needs for its plugins.
 */
#include "agent_parts.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <heddle/base/place.h>
#include <heddle/base/plain.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <router_session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

/* The table of that name, an array of objects; {"error": ...} if no table has the name. NULL: no
 * memory. */
static json_t *agent_tables_make(const struct agent_state *state, const char *name)
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

#define LINE_LONGEST 64u
#define CLIENTS_MOST 64u /* one more takes the place of the oldest */
#define PATIENCE_S 5 /* for a client to send its line, and to read the answer */

struct client {
	TAILQ_ENTRY(client) link; /* from the oldest */
	struct agent_control *control;
	struct bufferevent *stream;
};

struct agent_control {
	TAILQ_HEAD(client_list, client) clients;
	unsigned count;
	struct agent *agent;
	struct evconnlistener *listener;
	char *path;
	struct stat made; /* the file of the socket */
	bool bound;
};

static void control_drop(struct client *client)
{
	TAILQ_REMOVE(&client->control->clients, client, link);
	client->control->count--;
	bufferevent_free(client->stream);
	free(client);
}

static void on_written(struct bufferevent *stream, void *context)
{
	(void)stream;
	control_drop(context);
}

static void on_end(struct bufferevent *stream, short what, void *context)
{
	(void)stream;
	(void)what;
	control_drop(context);
}

static void answer(struct client *client, const char *name)
{
	const struct agent *agent = client->control->agent;
	const struct agent_state state = {agent->router, agent->links, agent->link_count};
	json_t *table = agent_tables_make(&state, name);
	char *text = table ? json_dumps(table, JSON_COMPACT) : NULL;

	json_decref(table);
	bufferevent_disable(client->stream, EV_READ);
	bufferevent_setcb(client->stream, NULL, on_written, on_end, client);
	if (text)
		bufferevent_write(client->stream, text, strlen(text));
	else
		control_drop(client);
	free(text);
}

static void on_line(struct bufferevent *stream, void *context)
{
	struct evbuffer *input = bufferevent_get_input(stream);
	char *line = evbuffer_readln(input, NULL, EVBUFFER_EOL_LF);

	if (line)
		answer(context, line);
	else if (evbuffer_get_length(input) > LINE_LONGEST)
		control_drop(context);
	free(line);
}

static void on_client(struct evconnlistener *listener, evutil_socket_t descriptor,
		      struct sockaddr *address, int length, void *context)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct agent_control *control = context;
	struct client *client = calloc(1, sizeof(*client));
	struct bufferevent *stream =
	    client ? bufferevent_socket_new(control->agent->base, descriptor, BEV_OPT_CLOSE_ON_FREE)
		   : NULL;

	(void)listener;
	(void)address;
	(void)length;
	if (!stream) {
		close(descriptor);
		free(client);
		return;
	}
	if (control->count == CLIENTS_MOST)
		control_drop(TAILQ_FIRST(&control->clients));
	*client = (struct client){.control = control, .stream = stream};
	TAILQ_INSERT_TAIL(&control->clients, client, link);
	control->count++;
	bufferevent_setcb(stream, on_line, NULL, on_end, client);
	bufferevent_set_timeouts(stream, &patience, &patience);
	bufferevent_enable(stream, EV_READ | EV_WRITE);
}

/* Whether a process has a socket there. A socket of another type cannot connect, so that process does not notice. */
static bool is_served(const struct sockaddr_un *address)
{
	int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof(*address))
		     ? errno
		     : 0;

	if (probe >= 0)
		close(probe);
	return rc != ECONNREFUSED;
}

/* Removes what a heddle-router of this user has left there. Nothing else is its own. */
static int make_way(const struct sockaddr_un *address, struct hd_error *err)
{
	const char *path = address->sun_path;
	struct stat found;

	if (lstat(path, &found))
		return 0; /* bind() says what is wrong, if anything is */
	if (!S_ISSOCK(found.st_mode))
		return hd_error_set(err, -EEXIST, "%s: there is a file that is no socket; it stays",
				    path);
	if (is_served(address))
		return hd_error_set(err, -EADDRINUSE, "%s: another heddle-router is running", path);
	if (found.st_uid != geteuid())
		return hd_error_set(err, -EPERM, "%s: there is a socket of another user; it stays",
				    path);
	unlink(path);
	return 0;
}

static int listen_at(struct agent_control *control, const char *path, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	/* If only the folder is missing. If that fails, bind() says why. */
	char *folder = strdup(path);
	if (folder)
		mkdir(dirname(folder), 0755);
	free(folder);
	int rc = hd_place_check_folder(path, err);
	if (!rc)
		rc = make_way(&address, err);
	if (rc)
		return rc;
	mask = umask(S_IXUSR | S_IXGRP | S_IRWXO);
	control->listener = evconnlistener_new_bind(
	    control->agent->base, on_client, control, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
	    -1, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (!control->listener)
		return hd_error_set(err, errno ? -errno : -EIO, "%s: cannot listen: %s", path,
				    strerror(errno));
	control->bound = !lstat(path, &control->made);
	control->path = strdup(path);
	return control->path ? 0 : hd_error_no_memory(err);
}

int agent_control_new(struct agent *agent, const char *path, struct agent_control **out,
		      struct hd_error *err)
{
	struct agent_control *control = calloc(1, sizeof(*control));
	int rc;

	if (!control)
		return hd_error_no_memory(err);
	control->agent = agent;
	TAILQ_INIT(&control->clients);
	rc = listen_at(control, path, err);
	if (rc)
		agent_control_free(control);
	else
		*out = control;
	return rc;
}

static void remove_socket(const struct agent_control *control)
{
	struct stat found;

	if (!control->bound || !control->path || lstat(control->path, &found))
		return;
	if (found.st_dev == control->made.st_dev && found.st_ino == control->made.st_ino)
		unlink(control->path);
}

void agent_control_free(struct agent_control *control)
{
	if (!control)
		return;
	/* first: when the socket is closed, the number of its file can be that of another one */
	remove_socket(control);
	while (control->count)
		control_drop(TAILQ_FIRST(&control->clients));
	if (control->listener)
		evconnlistener_free(control->listener);
	free(control->path);
	free(control);
}
