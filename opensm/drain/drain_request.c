/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "drain_request.h"

#include <errno.h>
#include <heddle/fabric/pull.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing ---- */

static bool find_word(const char *text, enum drain_word *word)
{
	static const char *const words[] = {[DRAIN_LIST] = "list",
					    [DRAIN_APPLY] = "apply",
					    [DRAIN_APPLY_ANY] = "apply-any",
					    [DRAIN_UNDO] = "undo",
					    [DRAIN_UNDO_ALL] = "undo-all"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(text, words[i])) {
			*word = (enum drain_word)i;
			return true;
		}
	return false;
}

/* The bytes up to and with the first empty line; 0: there is no such line. */
static size_t whole_length(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] == '\n' && (!i || bytes[i - 1] == '\n'))
			return i + 1;
	return 0;
}

static int take_lines(struct drain_request *request, struct hd_error *err)
{
	char *rest = NULL, *line = strtok_r(request->text, "\n", &rest);

	request->count = 0;
	request->progress = line && !strcmp(line, "progress");
	if (request->progress)
		line = strtok_r(NULL, "\n", &rest);
	if (!line || !find_word(line, &request->word))
		return hd_error_set(err, -EINVAL,
				    "this is no request: expected list, apply, undo or undo-all");
	while ((line = strtok_r(NULL, "\n", &rest))) {
		if (request->count == DRAIN_NAMES_MOST)
			return hd_error_set(err, -EINVAL, "more than %u names", DRAIN_NAMES_MOST);
		request->names[request->count++] = line;
	}
	const bool named = drain_request_adds(request) || request->word == DRAIN_UNDO;
	return named == (request->count > 0) ? 0
					     : hd_error_set(err, -EINVAL,
							    named ? "no cable or switch is named"
								  : "this request has no names");
}

long drain_request_parse(const uint8_t *bytes, size_t length, struct drain_request *out,
			 struct hd_error *err)
{
	const size_t whole = whole_length(bytes, length);

	if (!whole)
		return 0;
	if (whole > DRAIN_REQUEST_MOST || memchr(bytes, 0, whole))
		return hd_error_set(err, -EINVAL, "this is no request");
	memcpy(out->text, bytes, whole);
	out->text[whole] = '\0';
	const int rc = take_lines(out, err);
	return rc ? rc : (long)whole;
}

/* ---- more is drained ---- */

/* Cables to hosts are left to the count of hosts that are cut off. */
static int check_kind(const struct hd_fabric *fabric, const struct hd_fabric_change *change,
		      const char *text, struct hd_error *err)
{
	if (!change->cable)
		return 0;
	const uint32_t peer = fabric->peer[change->index];
	const bool near = hd_is_switch(fabric, fabric->port_node[change->index]);
	const bool far = peer == HD_NONE || hd_is_switch(fabric, fabric->port_node[peer]);
	const uint32_t end = near ? peer : change->index;
	if (near && far)
		return 0;
	if (hd_fabric_find_host(fabric, end) == HD_NONE)
		return hd_error_set(err, -EINVAL, "'%.128s' is not between switches", text);
	return hd_error_set(err, -ENETUNREACH, "draining '%.128s' would cut off 1 host: '%.64s'",
			    text, fabric->node_name[fabric->port_node[end]]);
}

/* "draining this would cut off 4 hosts: 'n1', 'n2', ..." */
static int say_cut(const struct hd_fabric *fabric, const bool *cut, uint32_t hosts,
		   struct hd_error *err)
{
	char names[HD_ERROR_TEXT / 2] = "";
	size_t used = 0;

	for (uint32_t host = 0; host < fabric->host_count && used < sizeof(names) - 80; host++)
		if (cut[host])
			used += (size_t)snprintf(
			    names + used, sizeof(names) - used, "%s'%.64s'", used ? ", " : "",
			    fabric->node_name[fabric->port_node[fabric->host_port[host]]]);
	return hd_error_set(
	    err, -ENETUNREACH, "draining this would cut off %" PRIu32 " host%s: %s%s", hosts,
	    hosts == 1 ? "" : "s", names, used >= sizeof(names) - 80 ? ", ..." : "");
}

static int check_hosts(const struct hd_fabric *fabric, const struct drained_set *wanted,
		       struct hd_error *err)
{
	struct hd_fabric_change *changes = calloc(wanted->count + 1u, sizeof(*changes));
	bool *cut = calloc(fabric->host_count + 1u, sizeof(*cut));
	struct hd_pull_cut found = {0};
	int rc = changes && cut ? 0 : hd_error_no_memory(err);

	if (!rc)
		rc = hd_pull_cut(fabric, changes, drained_set_locate(wanted, fabric, changes), cut,
				 &found, err);
	if (!rc && found.hosts)
		rc = say_cut(fabric, cut, found.hosts, err);
	free(changes);
	free(cut);
	return rc;
}

static int add_thing(struct drained_set *set, const struct drained_thing *thing,
		     struct hd_error *err)
{
	if (drained_set_find(set, thing) != HD_NONE)
		return 0;
	const int rc = drained_set_add(set, thing);
	if (rc == -E2BIG)
		return hd_error_set(err, rc, "more than %u things would be drained", DRAINED_MOST);
	return rc ? hd_error_no_memory(err) : 0;
}

int drain_request_add(const struct drain_request *request, const struct hd_fabric *fabric,
		      struct drained_set *wanted, struct drained_set *asked, struct hd_error *err)
{
	struct hd_fabric_change change;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < request->count; i++) {
		rc = hd_pull_resolve(fabric, request->names[i], &change, err);
		if (rc == -ENXIO)
			rc = 0; /* a cable that is down now stays out when it comes back */
		if (!rc)
			rc = check_kind(fabric, &change, request->names[i], err);
		if (rc)
			break;
		const struct drained_thing thing = drained_thing_of(fabric, &change);
		rc = add_thing(wanted, &thing, err);
		if (!rc)
			rc = add_thing(asked, &thing, err);
	}
	return rc ? rc : check_hosts(fabric, wanted, err);
}

/* ---- less is drained ---- */

/* Whether a text is one of the names of a thing, with or without quotes. */
static bool is_name(const struct drained_thing *thing, const char *text)
{
	char plain[DRAINED_LABEL], label[DRAINED_LABEL], one[DRAINED_LABEL];
	size_t used = 0;

	for (; *text && used < sizeof(plain) - 1; text++)
		if (*text != '\'')
			plain[used++] = *text;
	plain[used] = '\0';
	drained_label(thing, label);
	if (!strcmp(plain, label))
		return true;
	for (unsigned end = 0; end < 2 && thing->guid[end]; end++) {
		snprintf(one, sizeof(one), thing->cable ? "%s[%u]" : "%s", thing->name[end],
			 thing->port[end]);
		if (!strcmp(plain, one))
			return true;
		snprintf(one, sizeof(one), thing->cable ? "0x%016" PRIx64 "[%u]" : "0x%016" PRIx64,
			 thing->guid[end], thing->port[end]);
		if (!strcmp(plain, one))
			return true;
	}
	return false;
}

static uint32_t find_drained(const struct drained_set *wanted, const struct hd_fabric *fabric,
			     const char *text)
{
	struct hd_fabric_change change;
	int rc = fabric ? hd_pull_resolve(fabric, text, &change, NULL) : -ENOENT;

	if (!rc || rc == -ENXIO) {
		const struct drained_thing thing = drained_thing_of(fabric, &change);
		const uint32_t found = drained_set_find(wanted, &thing);
		if (found != HD_NONE)
			return found;
	}
	for (uint32_t i = 0; i < wanted->count; i++)
		if (is_name(&wanted->things[i], text))
			return i;
	return HD_NONE;
}

int drain_request_take(const struct drain_request *request, const struct hd_fabric *fabric,
		       struct drained_set *wanted, struct drained_set *asked, struct hd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < request->count; i++) {
		const uint32_t index = find_drained(wanted, fabric, request->names[i]);
		if (index == HD_NONE)
			return hd_error_set(err, -ENOENT, "'%.128s' is not drained",
					    request->names[i]);
		rc = add_thing(asked, &wanted->things[index], err);
		drained_set_remove(wanted, index);
	}
	while (!rc && request->word == DRAIN_UNDO_ALL && wanted->count) {
		rc = add_thing(asked, &wanted->things[0], err);
		drained_set_remove(wanted, 0);
	}
	return rc;
}
