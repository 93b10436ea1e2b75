/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_view.h"

#include <errno.h>
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>
#include <heddle/base/text.h>
#include <heddle/fabric/aside.h>
#include <heddle/fabric/read.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

static bool matches(const void *context, uint32_t host)
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
	int rc;

	if (!aside)
		return hd_error_no_memory(err);
	for (uint32_t i = 0; i < message->aside_count; i++) {
		uint32_t port = hd_fabric_find_port(view->fabric, message->aside[i]);

		if (port != HD_NONE && !hd_is_switch(view->fabric, view->fabric->port_node[port]))
			aside[port] = true;
	}
	rc = hd_fabric_set_aside(view->fabric, aside, err);
	free(aside);
	return rc;
}

unsigned keyd_view_lmc(const struct keyd_view *view, uint32_t host)
{
	uint32_t port = view->fabric->host_port[host];

	return view->fabric->lid[port] ? view->fabric->lmc[port] : 0;
}

static int fill(struct keyd_view *view, const struct hd_channel_fabric *message,
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
	int rc;

	if (!view)
		return hd_error_no_memory(err);
	view->references = 1;
	view->epoch = message->epoch;
	view->fingerprint = hd_hash_bytes(message->netlist, message->netlist_length) * 31u +
			    hd_hash_bytes((const char *)message->aside,
					  message->aside_count * sizeof(*message->aside));
	rc = fill(view, message, err);
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

static bool is_guid(const char *name, uint64_t *guid)
{
	struct hd_cursor cursor = {name, name + strlen(name)};

	return !strncmp(name, "0x", 2) && hd_take_hex(&cursor, guid) && hd_cursor_done(&cursor);
}

int keyd_view_host(const struct keyd_view *view, const struct keyd_hosts *hosts, const char *name,
		   uint32_t *host, struct hd_error *err)
{
	struct search search = {view, name, strlen(name), HD_NONE};
	uint64_t hash = hd_hash_bytes(name, search.length), guid;

	if (keyd_hosts_find(hosts, name, &guid) || is_guid(name, &guid))
		return find_guid(view, guid, name, host, err);
	*host = hd_lookup_find(&view->names, hash, matches, &search);
	if (*host == HD_NONE)
		return hd_error_set(err, -ENOENT,
				    "host '%s': no node description in the fabric begins with this "
				    "name, and hosts_file does not list it",
				    name);
	search.skip = *host;
	if (hd_lookup_find(&view->names, hash, matches, &search) != HD_NONE)
		return hd_error_set(err, -EEXIST,
				    "host '%s': several ports of the fabric have this name; list "
				    "the port to use in hosts_file, or send its GUID",
				    name);
	return 0;
}
