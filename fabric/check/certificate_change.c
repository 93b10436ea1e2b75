/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps from tables to others, and a certificate of each: of the entries before and after it together. */
#include <errno.h>
#include <heddle/fabric/certificate.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct changing {
	const struct hd_fabric *fabric;
	const struct hd_routes *after;
	struct hd_routes *now, *then; /* before and after the step at hand */
	const struct hd_go_on *go_on;
	struct hd_certificate_change *change;
	uint32_t *step; /* [entries of `list`] */
	uint32_t *
	    chain; /* [switch_count] of one LID: changed entries on the new path; HD_NONE: not known */
	struct hd_certificate_entry *list; /* by switch, LID */
	uint32_t count;
};

static bool changes(const struct changing *changing, uint32_t sw, uint32_t lid)
{
	uint32_t to;
	uint8_t port;

	return hd_fabric_lid_destination(changing->fabric, lid, &to, &port) &&
	       hd_routes_port(changing->now, sw, lid) != hd_routes_port(changing->after, sw, lid);
}

static int list_entries(struct changing *changing)
{
	const struct hd_fabric *fabric = changing->fabric;

	for (int fill = 0; fill < 2; fill++) {
		uint32_t count = 0;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
			for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
				if (!changes(changing, sw, lid))
					continue;
				if (fill)
					changing->list[count] =
					    (struct hd_certificate_entry){sw, lid};
				count++;
			}
		changing->count = count;
		if (!fill)
			changing->list = calloc(count + 1ul, sizeof(*changing->list));
		if (!changing->list)
			return -ENOMEM;
	}
	changing->step = calloc(changing->count + 1ul, sizeof(*changing->step));
	changing->chain = calloc(fabric->switch_count + 1ul, sizeof(*changing->chain));
	return changing->step && changing->chain ? 0 : -ENOMEM;
}

/* ---- steps ---- */

/* Changed entries on the new path from the switch on. The new tables have no loop. */
static uint32_t chain_of(struct changing *changing, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = changing->fabric;
	uint8_t port = hd_routes_port(changing->after, sw, lid);
	uint32_t link = port && port <= hd_node_ports(fabric, sw)
			    ? hd_fabric_find_isl(fabric, sw, port)
			    : HD_NONE;

	if (changing->chain[sw] == HD_NONE) {
		changing->chain[sw] = changes(changing, sw, lid);
		if (link != HD_NONE)
			changing->chain[sw] += chain_of(changing, fabric->isl_to[link], lid);
	}
	return changing->chain[sw];
}

static int compare_lids(const void *left, const void *right)
{
	const struct hd_certificate_entry *a = left, *b = right;

	if (a->lid != b->lid)
		return a->lid < b->lid ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* Steps from 0; holes come in the last one. */
static uint32_t find_steps(struct changing *changing)
{
	uint32_t steps = 1;
	bool holes = false;

	qsort(changing->list, changing->count, sizeof(*changing->list), compare_lids);
	for (uint32_t i = 0; i < changing->count; i++) {
		const struct hd_certificate_entry *entry = &changing->list[i];
		if (!i || changing->list[i - 1].lid != entry->lid)
			memset(changing->chain, 0xFF,
			       changing->fabric->switch_count * sizeof(uint32_t));
		changing->step[i] = chain_of(changing, entry->sw, entry->lid) - 1;
		if (hd_routes_port(changing->after, entry->sw, entry->lid) == HD_NO_PORT)
			changing->step[i] = HD_NONE;
		else if (changing->step[i] >= steps)
			steps = changing->step[i] + 1;
		holes |= changing->step[i] == HD_NONE;
	}
	for (uint32_t i = 0; i < changing->count; i++)
		if (changing->step[i] == HD_NONE)
			changing->step[i] = steps;
	return steps + holes;
}

/* Puts the entries into the change, step by step. */
static int sort_steps(struct changing *changing, uint32_t steps)
{
	struct hd_certificate_change *change = changing->change;
	uint32_t at = 0;

	free(change->entries);
	free(change->step_base);
	change->step_count = steps;
	change->entries = calloc(changing->count + 1ul, sizeof(*change->entries));
	change->step_base = calloc(steps + 1ul, sizeof(*change->step_base));
	change->mixture = calloc(steps + 1ul, sizeof(struct hd_certificate *));
	if (!change->entries || !change->step_base || !change->mixture)
		return -ENOMEM;
	for (uint32_t step = 0; step < steps; step++) {
		change->step_base[step] = at;
		for (uint32_t i = 0; i < changing->count; i++)
			if (changing->step[i] == step)
				change->entries[at++] = changing->list[i];
	}
	change->step_base[steps] = at;
	return 0;
}

/* ---- proofs ---- */

static int prove_step(struct changing *changing, uint32_t step, struct hd_error *err)
{
	struct hd_certificate_change *change = changing->change;
	struct hd_certificate_request request = {
	    .fabric = changing->fabric, .routes = changing->now, .after = changing->then};

	if (changing->go_on)
		request.go_on = *changing->go_on;
	for (uint32_t i = change->step_base[step]; i < change->step_base[step + 1]; i++) {
		const struct hd_certificate_entry *entry = &change->entries[i];
		hd_routes_row(changing->then, entry->sw)[entry->lid] =
		    hd_routes_port(changing->after, entry->sw, entry->lid);
	}
	int rc = hd_certificate_new(&request, &change->mixture[step], err);
	for (uint32_t i = change->step_base[step]; i < change->step_base[step + 1]; i++) {
		const struct hd_certificate_entry *entry = &change->entries[i];
		hd_routes_row(changing->now, entry->sw)[entry->lid] =
		    hd_routes_port(changing->after, entry->sw, entry->lid);
	}
	return rc ? hd_error_prefix(err, rc, "step %" PRIu32 " of %" PRIu32, step + 1,
				    change->step_count)
		  : 0;
}

static int prove_steps(struct changing *changing, uint32_t steps, struct hd_error *err)
{
	int rc = sort_steps(changing, steps) ? hd_error_no_memory(err) : 0;

	for (uint32_t step = 0; !rc && step < steps; step++)
		rc = prove_step(changing, step, err);
	return rc;
}

static void forget_mixtures(struct hd_certificate_change *change)
{
	for (uint32_t step = 0; change->mixture && step < change->step_count; step++)
		hd_certificate_free(change->mixture[step]);
	free(change->mixture);
	change->mixture = NULL;
}

/* Both copies begin with the tables before, and have the service levels of those after. */
static int take_tables(struct changing *changing, const struct hd_routes *before,
		       struct hd_error *err)
{
	hd_routes_free(changing->now);
	hd_routes_free(changing->then);
	changing->now = hd_routes_copy(changing->after);
	changing->then = hd_routes_copy(changing->after);
	if (!changing->now || !changing->then)
		return hd_error_no_memory(err);
	for (uint32_t sw = 0; sw < before->switch_count; sw++) {
		memcpy(hd_routes_row(changing->now, sw), hd_routes_row(before, sw),
		       before->lid_count);
		memcpy(hd_routes_row(changing->then, sw), hd_routes_row(before, sw),
		       before->lid_count);
	}
	return 0;
}

static int make(struct changing *changing, const struct hd_routes *before, struct hd_error *err)
{
	struct hd_certificate_request request = {.fabric = changing->fabric,
						 .routes = changing->after};
	int rc = hd_certificate_new(&request, &changing->change->after, err);

	if (!rc)
		rc = take_tables(changing, before, err);
	if (!rc && list_entries(changing))
		rc = hd_error_no_memory(err);
	if (rc || !changing->count)
		return rc ? rc : prove_steps(changing, 0, err);
	rc = prove_steps(changing, 1, err);
	if (rc != -ELOOP && rc != -EHOSTUNREACH)
		return rc;
	forget_mixtures(changing->change);
	rc = take_tables(changing, before, err);
	return rc ? rc : prove_steps(changing, find_steps(changing), err);
}

int hd_certificate_change_new(const struct hd_fabric *fabric, const struct hd_routes *before,
			      const struct hd_routes *after, const struct hd_go_on *go_on,
			      struct hd_certificate_change **out, struct hd_error *err)
{
	struct changing changing = {.fabric = fabric, .after = after, .go_on = go_on};

	if (before->switch_count != after->switch_count || before->lid_count != after->lid_count)
		return hd_error_set(err, -EINVAL, "the tables before have another shape");
	changing.change = calloc(1, sizeof(*changing.change));
	int rc = changing.change ? make(&changing, before, err) : hd_error_no_memory(err);
	hd_routes_free(changing.now);
	hd_routes_free(changing.then);
	free(changing.step);
	free(changing.chain);
	free(changing.list);
	if (rc)
		hd_certificate_change_free(changing.change);
	else
		*out = changing.change;
	return rc;
}

void hd_certificate_change_free(struct hd_certificate_change *change)
{
	if (!change)
		return;
	forget_mixtures(change);
	hd_certificate_free(change->after);
	free(change->step_base);
	free(change->entries);
	free(change);
}
