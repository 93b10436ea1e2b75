/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_phases.h"
#include "need.h"

#include <errno.h>
#include <heddle/base/text.h>
#include <stdlib.h>

static int find_hosts(struct key_phases *phases, const struct hd_ranks *ranks, struct hd_error *err)
{
	const struct hd_fabric *fabric = phases->fabric;
	char label[HD_LABEL_SIZE];

	phases->host = need(calloc((size_t)ranks->count + 1, sizeof(*phases->host)));
	for (uint32_t rank = 0; rank < ranks->count; rank++) {
		uint32_t port = ranks->fabric->host_port[ranks->host[rank]];
		phases->host[rank] = hd_fabric_find_host(fabric, port);
		if (phases->host[rank] == HD_NONE)
			return hd_error_set(err, -EINVAL,
					    "%s is an aggregation node, which cannot have a key",
					    hd_port_label(fabric, port, label, sizeof(label)));
	}
	return 0;
}

/* A line of --loads: SWITCH PORT FLOWS. */
static int read_load(struct key_phases *phases, const struct hd_lines *lines, struct hd_error *err)
{
	struct hd_cursor cursor = hd_lines_cursor(lines);
	uint64_t guid = 0;
	uint32_t port = 0, flows = 0;

	hd_take_blanks(&cursor);
	if (hd_cursor_done(&cursor) || hd_cursor_peek(&cursor) == '#')
		return 0;
	bool read = hd_take_hex(&cursor, &guid);
	hd_take_blanks(&cursor);
	read = read && hd_take_decimal(&cursor, &port);
	hd_take_blanks(&cursor);
	read = read && hd_take_decimal(&cursor, &flows) && hd_cursor_done(&cursor);
	if (!read)
		return hd_lines_error(
		    lines, err, "expected the GUID of a switch, a port and a number of flows");
	uint32_t sw = hd_fabric_find_node(phases->fabric, guid);
	uint32_t link = hd_is_switch(phases->fabric, sw)
			    ? hd_fabric_find_isl(phases->fabric, sw, port)
			    : HD_NONE;
	if (link == HD_NONE)
		return hd_lines_error(lines, err, "no link to another switch leaves there");
	phases->loads->flows[link] += flows;
	return 0;
}

static int read_loads(struct key_phases *phases, struct hd_error *err)
{
	const char *path = phases->request->load_file;
	struct hd_text text = {0};

	phases->loads = need(hd_key_loads_new(phases->tree));
	int rc = path ? hd_text_open(path, &text, err) : 0;
	if (rc || !path)
		return rc;
	rc = hd_text_check(&text, err);
	struct hd_lines lines = hd_lines_of(&text);
	while (!rc) {
		int more = hd_lines_next(&lines, err);
		if (more <= 0) {
			rc = more;
			break;
		}
		rc = read_load(phases, &lines, err);
	}
	hd_text_close(&text);
	return rc;
}

static int make_base(struct key_phases *phases, const struct hd_log *log, struct hd_error *err)
{
	struct table_source *tables = phases->request->tables;
	const struct table_request request = {
	    .fabric = phases->fabric, .threads = phases->request->threads, .log = log};

	return tables->engine || tables->path_count
		   ? table_source_make(tables, &request, &phases->base, err)
		   : 0;
}

static int load(struct key_phases *phases, const struct hd_log *log, struct hd_error *err)
{
	const struct key_phases_request *request = phases->request;
	int rc = fabric_source_load(&request->fabric, log, &phases->fabric, err);

	if (!rc)
		rc = hd_key_tree_new(phases->fabric, &phases->tree, err);
	if (!rc) {
		struct hd_ranks *ranks = NULL;
		rc = request->host_file
			 ? hd_ranks_read(phases->fabric, request->host_file, &ranks, err)
			 : hd_ranks_new(phases->fabric, false, &ranks, err);
		if (!rc)
			rc = find_hosts(phases, ranks, err);
		if (!rc)
			rc = hd_key_pattern_new(request->pattern, ranks->count, &phases->pattern,
						err);
		hd_ranks_free(ranks);
	}
	if (!rc)
		rc = read_loads(phases, err);
	if (!rc)
		rc = make_base(phases, log, err);
	phases->proof = (struct key_proof){.fabric = phases->fabric,
					   .base = phases->base,
					   .threads = request->threads,
					   .alone = request->mode == KEY_REWRITE};
	if (!rc)
		key_proof_begin(&phases->proof, log);
	return rc;
}

/* Follows a flow to the base LID of its destination, and adds to flows[] of each link, if it is given. Returns the most
 * flows on a link of it; HD_NONE: it does not arrive. */
static uint32_t walk_base(const struct key_phases *phases, const struct hd_key_route *route,
			  uint32_t *flows, uint32_t add)
{
	const struct hd_fabric *fabric = phases->fabric;
	uint32_t lid = fabric->lid[fabric->host_port[route->destination]];
	uint32_t sw = fabric->host_switch[route->source], most = 0;
	uint32_t to = fabric->host_switch[route->destination];

	for (uint32_t hops = 0; sw != to; hops++) {
		uint32_t link =
		    hd_fabric_find_isl(fabric, sw, hd_routes_port(phases->base, sw, lid));
		if (link == HD_NONE || hops > fabric->switch_count)
			return HD_NONE;
		flows[link] += add;
		most = flows[link] > most ? flows[link] : most;
		sw = fabric->isl_to[link];
	}
	return hd_routes_port(phases->base, sw, lid) == fabric->host_switch_port[route->destination]
		   ? most
		   : HD_NONE;
}

/* Counts links by their flows, and returns the most flows on a link. */
static uint32_t count_links(const uint32_t *flows, uint32_t links, uint64_t *counts)
{
	uint32_t most = 0;

	for (uint32_t link = 0; link < links; link++) {
		if (flows[link])
			counts[flows[link] < KEY_CHART ? flows[link] : KEY_CHART]++;
		if (most < flows[link])
			most = flows[link];
	}
	return most;
}

/* What is tried where keys are not free of deadlock with the tables. */
#define WHOLE_ATTEMPTS 16u
#define PART_ATTEMPTS 1000u

/* The offsets of all phases are known when their keys are made. */
static int check_offsets(const struct key_phases *phases, uint32_t last, struct hd_error *err)
{
	unsigned lmc = hd_fabric_largest_lmc(phases->fabric);

	if (last < 1u << lmc)
		return 0;
	return hd_error_set(err, -ERANGE,
			    "the key needs LID offset %u, and the largest offset of LMC %u is %u: "
			    "give the hosts more LIDs with --lmc%s",
			    last, lmc, (1u << lmc) - 1,
			    phases->request->mode == KEY_OFFSET ? ", or use --mode rewrite" : "");
}

/* Goes through the attempts until one is sound. Errors: as key_phases_make(). */
static int try_attempts(struct key_phases *phases, struct hd_key_attempts *attempts,
			uint32_t offset, struct key_phase *phase, struct hd_error *err)
{
	struct hd_key_attempt attempt;
	int refused = 0, rc;

	while (!(rc = hd_key_attempts_next(attempts, &attempt, err))) {
		struct hd_key_overlay overlay = {0};
		rc = attempt.key->offsets
			 ? check_offsets(phases, offset + attempt.key->offsets - 1, err)
			 : 0;
		if (!rc)
			rc = hd_key_overlay(phases->tree, attempt.key, attempt.shift, offset,
					    &overlay, err);
		if (!rc)
			rc = key_proof_try(&phases->proof, &overlay, err);
		hd_key_overlay_release(&overlay);
		if (rc && rc != -ELOOP && rc != -EINVAL)
			return rc;
		refused = rc ? rc : refused;
		hd_key_attempts_answer(attempts, !rc);
		phase->attempts++;
	}
	if (rc != -ENOENT)
		return rc;
	return hd_key_attempts_take(attempts, &phase->key, &phase->shift) ? refused : 0;
}

static int make_key(struct key_phases *phases, uint32_t number, uint32_t offset,
		    struct key_phase *phase, struct hd_error *err)
{
	const uint32_t *base = phases->pattern->base;
	struct hd_key_flow *flows =
	    need(calloc((size_t)base[number + 1] - base[number] + 1, sizeof(*flows)));
	struct hd_key_attempts *attempts = NULL;

	/* The flows of the phase. */
	const struct key_phases_request *asked = phases->request;
	uint32_t count = base[number + 1] - base[number];
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_rank_flow *flow = &phases->pattern->flows[base[number] + i];
		flows[i] = (struct hd_key_flow){phases->host[flow->source],
						phases->host[flow->destination]};
	}
	struct hd_key_attempts_request request = {
	    .key = {.tree = phases->tree,
		    .flows = flows,
		    .flow_count = count,
		    .algorithm = asked->algorithm,
		    .offsets = asked->offsets,
		    .best_effort = asked->best_effort,
		    .leave_out = asked->best_effort,
		    .threads = asked->threads},
	    .loads = asked->shift == KEY_SHIFT_NONE ? NULL : phases->loads,
	    .objective = asked->shift == KEY_SHIFT_PAPER ? HD_KEY_SHIFT_PAPER : HD_KEY_SHIFT_LINKS,
	    .whole = WHOLE_ATTEMPTS,
	    .parts = asked->best_effort ? PART_ATTEMPTS : 0};
	int rc = hd_key_attempts_new(&request, &attempts, err);
	if (!rc)
		rc = try_attempts(phases, attempts, offset, phase, err);
	hd_key_attempts_free(attempts);
	free(flows);
	return rc;
}

static int make_phase(struct key_phases *phases, uint32_t number, uint32_t *offset,
		      struct hd_error *err)
{
	struct key_phase *phase = &phases->phases[number];
	int rc = make_key(phases, number, *offset, phase, err);

	phase->first_offset = *offset;
	if (!rc)
		rc = hd_key_overlay(phases->tree, phase->key, phase->shift, *offset,
				    &phase->overlay, err);
	if (!rc) {
		struct hd_key_loads *own = need(hd_key_loads_new(phases->tree));
		hd_key_loads_add(own, phases->tree, phase->key, phase->shift, 1);
		count_links(own->flows, own->link_count, phases->links);
		for (uint32_t link = 0; link < own->link_count; link++)
			if (own->flows[link] &&
			    phase->most < own->flows[link] + phases->loads->flows[link])
				phase->most = own->flows[link] + phases->loads->flows[link];
		hd_key_loads_free(own);
		phase->flow_most =
		    need(calloc((size_t)phase->key->flow_count + 1, sizeof(*phase->flow_most)));
		if (hd_key_sharing(phases->tree, phase->key, phase->shift, phase->flow_most,
				   &phase->sharing, NULL))
			need(NULL);
		if (phases->base) {
			uint32_t links = phases->fabric->isl_count;
			uint32_t *flows = need(calloc((size_t)links + 1, sizeof(*flows)));
			for (uint32_t i = 0; i < phase->key->flow_count; i++)
				phase->lost +=
				    walk_base(phases, &phase->key->routes[i], flows, 1) == HD_NONE;
			for (uint32_t i = 0; i < phase->key->flow_count; i++)
				phase->base_sharing +=
				    walk_base(phases, &phase->key->routes[i], flows, 0) > 1;
			phase->base = count_links(flows, links, phases->base_links);
			free(flows);
		}
	}
	if (!rc && phases->request->mode == KEY_OFFSET)
		*offset += phase->key->offsets;
	return need_enough(rc) ? hd_error_prefix(err, rc, "phase %u", number) : 0;
}

int key_phases_make(const struct key_phases_request *request, const struct hd_log *log,
		    struct key_phases *out, struct hd_error *err)
{
	*out = (struct key_phases){.request = request};
	int rc = load(out, log, err);
	uint32_t offset = request->first_offset;

	if (rc)
		return rc;
	out->phases = need(calloc((size_t)out->pattern->phase_count + 1, sizeof(*out->phases)));
	for (uint32_t phase = 0; !rc && phase < out->pattern->phase_count; phase++)
		rc = make_phase(out, phase, &offset, err);
	return rc;
}

void key_phases_release(struct key_phases *phases)
{
	for (uint32_t i = 0; phases->phases && i < phases->pattern->phase_count; i++) {
		hd_key_overlay_release(&phases->phases[i].overlay);
		hd_key_shift_free(phases->phases[i].shift);
		hd_key_free(phases->phases[i].key);
		free(phases->phases[i].flow_most);
	}
	free(phases->phases);
	free(phases->host);
	hd_key_loads_free(phases->loads);
	key_proof_release(&phases->proof);
	hd_routes_free(phases->base);
	hd_key_pattern_free(phases->pattern);
	hd_key_tree_free(phases->tree);
	hd_fabric_free(phases->fabric);
}
