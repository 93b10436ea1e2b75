/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric of one epoch and the names of hosts: hosts_file of [keyd], and the view. keyd_fabric.c makes views;
 * jobs and proposals look up hosts.
 *
 * A name is looked up in hosts_file first, then as a GUID, then among the descriptions of nodes. A name that several
 * hosts have is refused. A view never changes.
 */
#include "keyd_view.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/grow.h>
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>
#include <heddle/base/text.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/read.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- hosts ---- */

#define FILE_LARGEST ((size_t)64 << 20)

struct row {
	const char *name;
	uint64_t guid;
};

struct keyd_hosts {
	struct hd_arena arena;
	struct row *rows;
	uint32_t count, room;
	struct hd_lookup lookup;
};

struct keyd_hosts_search {
	const struct keyd_hosts *hosts;
	const char *name;
};

static bool keyd_hosts_matches(const void *context, uint32_t index)
{
	const struct keyd_hosts_search *search = context;

	return !strcmp(search->hosts->rows[index].name, search->name);
}

static uint32_t view_find(const struct keyd_hosts *hosts, const char *name)
{
	const struct keyd_hosts_search search = {hosts, name};

	return hd_lookup_find(&hosts->lookup, hd_hash_bytes(name, strlen(name)), keyd_hosts_matches,
			      &search);
}

static int view_add(struct keyd_hosts *hosts, const struct hd_words *words, struct hd_error *err)
{
	struct hd_cursor cursor = {words->word[1], words->word[1] + strlen(words->word[1])};
	struct row *rows;
	uint64_t guid;

	if (words->count != 2 || !hd_take_hex(&cursor, &guid) || !hd_cursor_done(&cursor) || !guid)
		return hd_lines_error(&words->lines, err, "expected NAME GUID");
	if (view_find(hosts, words->word[0]) != HD_NONE)
		return hd_lines_error(&words->lines, err, "an earlier line has this name");
	rows = hd_grow(hosts->rows, hosts->count, 1, &hosts->room, sizeof(*rows));
	if (!rows)
		return hd_error_no_memory(err);
	hosts->rows = rows;
	rows[hosts->count] = (struct row){hd_arena_strdup(&hosts->arena, words->word[0]), guid};
	if (!rows[hosts->count].name ||
	    hd_lookup_add(&hosts->lookup, hd_hash_bytes(words->word[0], strlen(words->word[0])),
			  hosts->count))
		return hd_error_no_memory(err);
	hosts->count++;
	return 0;
}

static int read_rows(struct keyd_hosts *hosts, const struct hd_text *text, struct hd_error *err)
{
	struct hd_words words;
	int rc = hd_words_begin(&words, text, err);

	while (!rc && (rc = hd_words_next(&words, err)) > 0)
		rc = view_add(hosts, &words, err);
	return rc;
}

int keyd_hosts_read(const char *path, struct keyd_hosts **out, struct hd_error *err)
{
	struct keyd_hosts *hosts = calloc(1, sizeof(*hosts));
	struct hd_text text;
	int rc = 0;

	if (!hosts)
		return hd_error_no_memory(err);
	if (path) {
		rc = hd_text_open_regular(path, FILE_LARGEST, &text, err);
		if (!rc) {
			rc = text.length ? read_rows(hosts, &text, err) : 0;
			hd_text_close(&text);
		}
	}
	if (rc)
		keyd_hosts_free(hosts);
	else
		*out = hosts;
	return rc;
}

void keyd_hosts_free(struct keyd_hosts *hosts)
{
	if (!hosts)
		return;
	hd_lookup_release(&hosts->lookup);
	hd_arena_release(&hosts->arena);
	free(hosts->rows);
	free(hosts);
}

bool keyd_hosts_find(const struct keyd_hosts *hosts, const char *name, uint64_t *guid)
{
	uint32_t row = view_find(hosts, name);

	if (row != HD_NONE)
		*guid = hosts->rows[row].guid;
	return row != HD_NONE;
}

uint32_t keyd_hosts_count(const struct keyd_hosts *hosts)
{
	return hosts->count;
}

/* ---- view ---- */

struct search {
	const struct keyd_view *view;
	const char *name;
	size_t length;
	uint32_t skip; /* not this host */
};

/* The first word of the description of a host's node. */
static const char *first_word(const struct hd_fabric *fabric, uint32_t host, size_t *length)
{
	const char *name = fabric->node_name[fabric->port_node[fabric->host_port[host]]];

	*length = strcspn(name, " \t");
	return name;
}

static bool view_matches(const void *context, uint32_t host)
{
	const struct search *search = context;
	size_t length;
	const char *word = first_word(search->view->fabric, host, &length);

	return host != search->skip && length == search->length &&
	       !memcmp(word, search->name, length);
}

static int index_names(struct keyd_view *view, struct hd_error *err)
{
	for (uint32_t host = 0; host < view->fabric->host_count; host++) {
		size_t length;
		const char *word = first_word(view->fabric, host, &length);

		if (hd_lookup_add(&view->names, hd_hash_bytes(word, length), host))
			return hd_error_no_memory(err);
	}
	return 0;
}

static int set_aside(struct keyd_view *view, const struct hd_channel_fabric *message,
		     struct hd_error *err)
{
	bool *aside = calloc(view->fabric->port_count, sizeof(*aside));

	if (!aside)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < message->aside_count; i++) {
		uint32_t port = hd_fabric_find_port(view->fabric, message->aside[i]);

		if (port != HD_NONE && !hd_is_switch(view->fabric, view->fabric->port_node[port]))
			aside[port] = true;
	}
	int rc = hd_fabric_set_aside(view->fabric, aside, err);
	free(aside);
	return rc;
}

unsigned keyd_view_lmc(const struct keyd_view *view, uint32_t host)
{
	uint32_t port = view->fabric->host_port[host];

	return view->fabric->lid[port] ? view->fabric->lmc[port] : 0;
}

static int view_fill(struct keyd_view *view, const struct hd_channel_fabric *message,
		     struct hd_error *err)
{
	int rc = hd_fabric_parse(message->netlist, message->netlist_length, "fabric", NULL,
				 &view->fabric, err);

	if (!rc)
		rc = set_aside(view, message, err);
	if (!rc && !view->fabric->host_count)
		rc = hd_error_set(err, -ENOTSUP, "the fabric has no hosts");
	if (!rc)
		rc = hd_key_tree_new(view->fabric, &view->tree, err);
	if (!rc)
		rc = index_names(view, err);
	if (rc)
		return rc;
	view->lmc = HD_LMC_MAX;
	for (uint32_t host = 0; host < view->fabric->host_count; host++)
		if (keyd_view_lmc(view, host) < view->lmc)
			view->lmc = keyd_view_lmc(view, host);
	return 0;
}

int keyd_view_new(const struct hd_channel_fabric *message, struct keyd_view **out,
		  struct hd_error *err)
{
	struct keyd_view *view = calloc(1, sizeof(*view));

	if (!view)
		return hd_error_no_memory(err);
	view->references = 1;
	view->epoch = message->epoch;
	view->fingerprint = hd_hash_bytes(message->netlist, message->netlist_length) * 31u +
			    hd_hash_bytes((const char *)message->aside,
					  message->aside_count * sizeof(*message->aside));
	int rc = view_fill(view, message, err);
	if (rc)
		keyd_view_release(view);
	else
		*out = view;
	return rc;
}

struct keyd_view *keyd_view_hold(struct keyd_view *view)
{
	view->references++;
	return view;
}

void keyd_view_release(struct keyd_view *view)
{
	if (!view || --view->references)
		return;
	hd_lookup_release(&view->names);
	hd_key_tree_free(view->tree);
	hd_fabric_free(view->fabric);
	free(view);
}

static int find_guid(const struct keyd_view *view, uint64_t guid, const char *name, uint32_t *host,
		     struct hd_error *err)
{
	uint32_t port = hd_fabric_find_port(view->fabric, guid);
	uint32_t node = hd_fabric_find_node(view->fabric, guid);

	*host = port == HD_NONE ? HD_NONE : hd_fabric_find_host(view->fabric, port);
	for (uint32_t p = 1;
	     *host == HD_NONE && node != HD_NONE && p <= hd_node_ports(view->fabric, node); p++)
		*host = hd_fabric_find_host(view->fabric, hd_port_index(view->fabric, node, p));
	if (*host == HD_NONE)
		return hd_error_set(err, -ENOENT,
				    "host '%s': no host of the fabric has the GUID 0x%016" PRIx64,
				    name, guid);
	return 0;
}

int keyd_view_host(const struct keyd_view *view, const struct keyd_hosts *hosts, const char *name,
		   uint32_t *host, struct hd_error *err)
{
	struct search search = {view, name, strlen(name), HD_NONE};
	uint64_t hash = hd_hash_bytes(name, search.length), guid;

	if (keyd_hosts_find(hosts, name, &guid))
		return find_guid(view, guid, name, host, err);
	struct hd_cursor cursor = {name, name + strlen(name)};
	if ((!strncmp(name, "0x", 2) && hd_take_hex(&cursor, &guid) && hd_cursor_done(&cursor)))
		return find_guid(view, guid, name, host, err);
	*host = hd_lookup_find(&view->names, hash, view_matches, &search);
	if (*host == HD_NONE)
		return hd_error_set(err, -ENOENT,
				    "host '%s': no node description in the fabric begins with this "
				    "name, and hosts_file does not list it",
				    name);
	search.skip = *host;
	if (hd_lookup_find(&view->names, hash, view_matches, &search) != HD_NONE)
		return hd_error_set(err, -EEXIST,
				    "host '%s': several ports of the fabric have this name; list "
				    "the port to use in hosts_file, or send its GUID",
				    name);
	return 0;
}
