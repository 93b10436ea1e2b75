/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the bytes of a request to a set of what is wanted: parses the lines, resolves the names, and refuses what would cut
 * hosts off. The thread of the part calls it, with the fabric of the last sweep. More is drained by names of that fabric;
 * less also by names of a fabric that is made of what is drained, since it may have been pulled. A name that several nodes
 * have is refused in both. Nothing is kept here, and after an error nothing is wanted.
 */
#include "drain_request.h"

#include <errno.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/pull.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool find_word(const char *text, enum drain_word *word)
{
	static const char *const words[] = {[DRAIN_LIST] = "list",
					    [DRAIN_APPLY] = "apply",
					    [DRAIN_APPLY_ANY] = "apply-any",
					    [DRAIN_UNDO] = "undo",
					    [DRAIN_UNDO_ALL] = "undo-all",
					    [DRAIN_REROUTE] = "reroute",
					    [DRAIN_REROUTE_ANY] = "reroute-any"};

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
		return hd_error_set(
		    err, -EINVAL,
		    "this is no request: expected list, apply, undo, undo-all or reroute");
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
	drained_set_mark_shared(wanted, fabric, wanted);
	drained_set_mark_shared(asked, fabric, wanted);
	return rc ? rc : check_hosts(fabric, wanted, err);
}

/* Adds the switches at the ends of a thing. */
static int add_ends(struct hd_builder *builder, const struct drained_thing *thing,
		    struct hd_error *err)
{
	uint32_t node[2] = {HD_NONE, HD_NONE};
	int rc = 0;

	for (unsigned end = 0; !rc && end < 2 && thing->guid[end]; end++) {
		const struct hd_node_spec spec = {.type = HD_SWITCH,
						  .guid = thing->guid[end],
						  .port_count = HD_PORTS_MAX,
						  .name = thing->name[end]};
		node[end] = hd_builder_find(builder, spec.guid);
		if (node[end] == HD_NONE)
			rc = hd_builder_add_node(builder, &spec, &node[end], err);
	}
	if (!rc && node[1] != HD_NONE) /* a port that has two of the cables keeps the first one */
		hd_builder_link(builder, node[0], thing->port[0], node[1], thing->port[1], 0,
				HD_SPEED_UNKNOWN, NULL);
	return rc;
}

/* What is drained as a fabric of its own: in it a text means what it meant before the pull. *out is NULL if nothing is. */
static int make_drained_fabric(const struct drained_set *set, struct hd_fabric **out,
			       struct hd_error *err)
{
	struct hd_builder *builder = hd_builder_new();
	int rc = builder ? 0 : hd_error_no_memory(err);

	*out = NULL;
	for (uint32_t i = 0; !rc && i < set->count; i++)
		rc = add_ends(builder, &set->things[i], err);
	if (!rc && set->count)
		rc = hd_builder_build(builder, out, err);
	hd_builder_free(builder);
	return rc;
}

/* What a text means in a fabric. Errors: those of hd_pull_resolve() without -ENXIO. */
static int resolve(const struct hd_fabric *fabric, const char *text, struct drained_thing *thing,
		   struct hd_error *err)
{
	struct hd_fabric_change change;
	int rc = fabric ? hd_pull_resolve(fabric, text, &change, err)
			: hd_error_set(err, -ENOENT, "no fabric");

	if (rc && rc != -ENXIO)
		return rc;
	*thing = drained_thing_of(fabric, &change);
	return 0;
}

/*
 * Which thing of the set a text means: what is listed, or a name of now or of before the pull. A name that several have is
 * refused, also if only one of these is drained. So is one that has gone over to something that is not drained, unless
 * it is a cable at the same port.
 */
static int find_drained(const struct drained_set *set, const struct hd_fabric *now,
			const struct hd_fabric *before, const char *text, uint32_t *index,
			struct hd_error *err)
{
	struct drained_thing thing, former;
	struct hd_error reason;
	char label[DRAINED_LABEL];

	for (*index = 0; *index < set->count; ++*index) {
		drained_label(&set->things[*index], label);
		if (!strcmp(text, label))
			return 0;
	}
	const int rc_before = resolve(before, text, &former, &reason);
	if (rc_before == -EEXIST)
		return hd_error_set(err, rc_before, "%s", reason.text);
	const int rc = resolve(now, text, &thing, &reason);
	if (rc == -EEXIST)
		return hd_error_set(err, rc, "%s", reason.text);
	*index = rc ? HD_NONE : drained_set_find(set, &thing);
	if (*index == HD_NONE && !rc_before &&
	    (rc || (former.cable && thing.cable && former.guid[0] == thing.guid[0] &&
		    former.port[0] == thing.port[0])))
		*index = drained_set_find(set, &former);
	return *index != HD_NONE ? 0 : hd_error_set(err, -ENOENT, "'%.128s' is not drained", text);
}

int drain_request_take(const struct drain_request *request, const struct hd_fabric *fabric,
		       struct drained_set *wanted, struct drained_set *asked, struct hd_error *err)
{
	struct hd_fabric *before;
	uint32_t index;
	int rc = make_drained_fabric(wanted, &before, err);

	if (fabric)
		drained_set_mark_shared(wanted, fabric, wanted);
	for (uint32_t i = 0; !rc && i < request->count; i++) {
		rc = find_drained(wanted, fabric, before, request->names[i], &index, err);
		if (rc)
			break;
		rc = add_thing(asked, &wanted->things[index], err);
		drained_set_remove(wanted, index);
	}
	hd_fabric_free(before);
	while (!rc && request->word == DRAIN_UNDO_ALL && wanted->count) {
		rc = add_thing(asked, &wanted->things[0], err);
		drained_set_remove(wanted, 0);
	}
	return rc;
}
