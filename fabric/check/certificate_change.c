/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps from tables to others, and a certificate of each: of the entries before and after it together. */
#include <errno.h>
#include <heddle/fabric/certificate.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT32_MAX /* of a chain */
#define OPEN                                                                                       \
	(UINT32_MAX -                                                                              \
	 1) /* it is being followed: groups where no packets come may lead in a circle */

/* In which order entries change. Each has a loop only if those before it have one. */
enum order {
	AT_ONCE, /* all in one step */
	BY_PATHS, /* after all changed entries to which the new paths lead */
	NARROWED, /* groups lose ports, then the tables change so, then groups get ports */
	ORDERS
};

struct item {
	struct hd_certificate_entry entry;
	uint32_t step;
};

struct changing {
	const struct hd_certificate_change_request *request;
	const struct hd_fabric *fabric;
	const struct hd_routes *after;
	struct hd_routes *now, *then; /* before and after the step at hand */
	/* [switch_count * lid_count] the same of groups, as enum hd_certificate_held: before the step in bits 0 .. 3, after it
	 * in bits 4 .. 7. NULL: there are no groups */
	uint8_t *held;
	struct hd_certificate_change *change;
	struct hd_certificate_entry *list; /* entries that change, by LID, switch */
	uint32_t count;
	struct item *items; /* [3 * count] */
	uint32_t item_count;
	uint32_t *chain; /* [switch_count] of one LID: changed entries on the longest new path */
	bool narrowed; /* chains are those of tables with narrow groups */
};

/* ---- what switches have ---- */

/* Ports of the group in this state. */
static struct hd_port_set group_of(const struct changing *changing, enum hd_certificate_held held,
				   uint32_t sw, uint32_t lid)
{
	const struct hd_certificate_change_request *request = changing->request;
	struct hd_port_set ports = {{0}}, other = {{0}};

	if (!changing->held)
		return ports;
	request->add_ports(request->context, held == HD_CERTIFICATE_AFTER, sw, lid, &ports);
	if (held == HD_CERTIFICATE_NARROW || held == HD_CERTIFICATE_TABLES) {
		request->add_ports(request->context, true, sw, lid, &other);
		hd_port_set_intersect(&ports, &other);
	}
	return ports;
}

static bool same_group(const struct changing *changing, enum hd_certificate_held a,
		       enum hd_certificate_held b, uint32_t sw, uint32_t lid)
{
	struct hd_port_set first = group_of(changing, a, sw, lid),
			   second = group_of(changing, b, sw, lid);

	return hd_port_set_equal(&first, &second);
}

static bool moves(const struct changing *changing, uint32_t sw, uint32_t lid)
{
	return hd_routes_port(changing->request->before, sw, lid) !=
	       hd_routes_port(changing->after, sw, lid);
}

static bool changes(const struct changing *changing, uint32_t sw, uint32_t lid)
{
	return moves(changing, sw, lid) ||
	       !same_group(changing, HD_CERTIFICATE_BEFORE, HD_CERTIFICATE_AFTER, sw, lid);
}

/* Fills list[] if it is there, and counts the entries. */
static void find_entries(struct changing *changing)
{
	const struct hd_fabric *fabric = changing->fabric;
	uint32_t to;
	uint8_t port;

	changing->count = 0;
	for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
		if (!hd_fabric_lid_destination(fabric, lid, &to, &port))
			continue;
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			if (!changes(changing, sw, lid))
				continue;
			if (changing->list)
				changing->list[changing->count] =
				    (struct hd_certificate_entry){sw, lid, HD_CERTIFICATE_AFTER};
			changing->count++;
		}
	}
}

static int list_entries(struct changing *changing)
{
	find_entries(changing);
	changing->list = calloc(changing->count + 1ul, sizeof(*changing->list));
	changing->items = calloc(3ul * changing->count + 1, sizeof(*changing->items));
	changing->chain = calloc(changing->fabric->switch_count + 1ul, sizeof(*changing->chain));
	if (!changing->list || !changing->items || !changing->chain)
		return -ENOMEM;
	find_entries(changing);
	return 0;
}

/* ---- steps ---- */

/* Changed entries on the longest of the new paths from the switch on. */
static uint32_t chain_of(struct changing *changing, uint32_t sw, uint32_t lid)
{
	const struct hd_fabric *fabric = changing->fabric;
	const enum hd_certificate_held held =
	    changing->narrowed ? HD_CERTIFICATE_TABLES : HD_CERTIFICATE_AFTER;
	struct hd_port_set ports = group_of(changing, held, sw, lid);
	uint8_t entry = hd_routes_port(changing->after, sw, lid);
	uint32_t longest = 0;

	if (changing->chain[sw] == OPEN)
		return 0;
	if (changing->chain[sw] != UNKNOWN)
		return changing->chain[sw];
	changing->chain[sw] = OPEN;
	if (entry != HD_NO_PORT)
		hd_port_set_add(&ports, entry);
	HD_PORT_SET_FOREACH(port, &ports) {
		uint32_t link = port && port <= hd_node_ports(fabric, sw)
				    ? hd_fabric_find_isl(fabric, sw, port)
				    : HD_NONE;
		uint32_t ahead =
		    link == HD_NONE ? 0 : chain_of(changing, fabric->isl_to[link], lid);
		longest = ahead > longest ? ahead : longest;
	}
	bool counts = changing->narrowed ? moves(changing, sw, lid) : changes(changing, sw, lid);
	return changing->chain[sw] = longest + counts;
}

static void add_item(struct changing *changing, const struct hd_certificate_entry *entry,
		     uint32_t step, enum hd_certificate_held becomes)
{
	changing->items[changing->item_count++] =
	    (struct item){{entry->sw, entry->lid, becomes}, step};
}

/* The step of an entry by its paths, from 0; HD_NONE: the last one, since it is taken away. */
static uint32_t step_by_paths(struct changing *changing, uint32_t i)
{
	const struct hd_certificate_entry *entry = &changing->list[i];

	if (!i || changing->list[i - 1].lid != entry->lid)
		memset(changing->chain, 0xFF, changing->fabric->switch_count * sizeof(uint32_t));
	if (hd_routes_port(changing->after, entry->sw, entry->lid) == HD_NO_PORT)
		return HD_NONE;
	return chain_of(changing, entry->sw, entry->lid) - 1;
}

/* Entries that are taken away come last. Returns the number of steps. */
static uint32_t finish_steps(struct changing *changing, uint32_t first)
{
	uint32_t steps = first;
	bool holes = false;

	for (uint32_t i = 0; i < changing->item_count; i++) {
		const uint32_t step = changing->items[i].step;
		holes |= step == HD_NONE;
		if (step != HD_NONE && step >= steps)
			steps = step + 1;
	}
	for (uint32_t i = 0; i < changing->item_count; i++)
		if (changing->items[i].step == HD_NONE)
			changing->items[i].step = steps;
	return steps + holes;
}

static uint32_t order_by_paths(struct changing *changing)
{
	changing->narrowed = false;
	for (uint32_t i = 0; i < changing->count; i++)
		add_item(changing, &changing->list[i], step_by_paths(changing, i),
			 HD_CERTIFICATE_AFTER);
	return finish_steps(changing, 0);
}

static bool loses(const struct changing *changing, const struct hd_certificate_entry *entry)
{
	return !same_group(changing, HD_CERTIFICATE_BEFORE, HD_CERTIFICATE_NARROW, entry->sw,
			   entry->lid);
}

static bool gets(const struct changing *changing, const struct hd_certificate_entry *entry)
{
	return !same_group(changing, HD_CERTIFICATE_TABLES, HD_CERTIFICATE_AFTER, entry->sw,
			   entry->lid);
}

/* Entries that lose ports: the first step, if there are any. */
static uint32_t narrow_groups(struct changing *changing)
{
	for (uint32_t i = 0; i < changing->count; i++) {
		const struct hd_certificate_entry *entry = &changing->list[i];
		const bool more = moves(changing, entry->sw, entry->lid) || gets(changing, entry);
		if (loses(changing, entry))
			add_item(changing, entry, 0,
				 more ? HD_CERTIFICATE_NARROW : HD_CERTIFICATE_AFTER);
	}
	return changing->item_count > 0;
}

static uint32_t order_narrowed(struct changing *changing)
{
	const uint32_t first = narrow_groups(changing);
	bool widen = false;

	changing->narrowed = true;
	for (uint32_t i = 0; i < changing->count; i++) {
		const struct hd_certificate_entry *entry = &changing->list[i];
		const uint32_t step = step_by_paths(changing, i);
		if (moves(changing, entry->sw, entry->lid))
			add_item(changing, entry, step == HD_NONE ? HD_NONE : first + step,
				 gets(changing, entry) ? HD_CERTIFICATE_TABLES
						       : HD_CERTIFICATE_AFTER);
	}
	const uint32_t last = finish_steps(changing, first);
	for (uint32_t i = 0; i < changing->count; i++)
		if (gets(changing, &changing->list[i])) {
			add_item(changing, &changing->list[i], last, HD_CERTIFICATE_AFTER);
			widen = true;
		}
	return last + widen;
}

/* Returns the number of steps. */
static uint32_t find_steps(struct changing *changing, enum order order)
{
	changing->item_count = 0;
	if (order == BY_PATHS)
		return order_by_paths(changing);
	if (order == NARROWED)
		return order_narrowed(changing);
	for (uint32_t i = 0; i < changing->count; i++)
		add_item(changing, &changing->list[i], 0, HD_CERTIFICATE_AFTER);
	return changing->count > 0;
}

/* Puts the entries into the change, step by step. */
static int sort_steps(struct changing *changing, uint32_t steps)
{
	struct hd_certificate_change *change = changing->change;
	uint32_t at = 0;

	free(change->entries);
	free(change->step_base);
	change->step_count = steps;
	change->entries = calloc(changing->item_count + 1ul, sizeof(*change->entries));
	change->step_base = calloc(steps + 1ul, sizeof(*change->step_base));
	change->mixture = calloc(steps + 1ul, sizeof(struct hd_certificate *));
	if (!change->entries || !change->step_base || !change->mixture)
		return -ENOMEM;
	for (uint32_t step = 0; step < steps; step++) {
		change->step_base[step] = at;
		for (uint32_t i = 0; i < changing->item_count; i++)
			if (changing->items[i].step == step)
				change->entries[at++] = changing->items[i].entry;
	}
	change->step_base[steps] = at;
	return 0;
}

/* ---- proofs ---- */

static uint8_t *held_at(const struct changing *changing, uint32_t sw, uint32_t lid)
{
	return changing->held + (size_t)sw * changing->fabric->lid_count + lid;
}

/* Ports of the groups before and after the step. */
static void add_mixture(const void *context, uint32_t sw, uint32_t lid, struct hd_port_set *ports)
{
	const struct changing *changing = context;
	const uint8_t held = *held_at(changing, sw, lid);
	struct hd_port_set more = group_of(changing, held & 15, sw, lid);

	hd_port_set_unite(ports, &more);
	if (held >> 4 == (held & 15))
		return;
	more = group_of(changing, held >> 4, sw, lid);
	hd_port_set_unite(ports, &more);
}

static void add_after(const void *context, uint32_t sw, uint32_t lid, struct hd_port_set *ports)
{
	const struct hd_certificate_change_request *request = context;

	request->add_ports(request->context, true, sw, lid, ports);
}

/* What an entry of a step becomes, in `then`, or in `now`, too. */
static void take_entry(struct changing *changing, const struct hd_certificate_entry *entry,
		       bool done)
{
	const uint8_t port = hd_routes_port(changing->after, entry->sw, entry->lid);
	struct hd_routes *routes = done ? changing->now : changing->then;

	if (entry->becomes != HD_CERTIFICATE_NARROW)
		hd_routes_row(routes, entry->sw)[entry->lid] = port;
	if (!changing->held)
		return;
	uint8_t *held = held_at(changing, entry->sw, entry->lid);
	*held = (uint8_t)(entry->becomes << 4 | (done ? entry->becomes : *held & 15u));
}

static int prove_step(struct changing *changing, uint32_t step, struct hd_error *err)
{
	struct hd_certificate_change *change = changing->change;
	struct hd_certificate_request request = {.fabric = changing->fabric,
						 .routes = changing->now,
						 .after = changing->then,
						 .add_ports = changing->held ? add_mixture : NULL,
						 .context = changing};

	if (changing->request->go_on)
		request.go_on = *changing->request->go_on;
	for (uint32_t i = change->step_base[step]; i < change->step_base[step + 1]; i++)
		take_entry(changing, &change->entries[i], false);
	int rc = hd_certificate_new(&request, &change->mixture[step], err);
	for (uint32_t i = change->step_base[step]; i < change->step_base[step + 1]; i++)
		take_entry(changing, &change->entries[i], true);
	return rc ? hd_error_prefix(err, rc, "step %" PRIu32 " of %" PRIu32, step + 1,
				    change->step_count)
		  : 0;
}

static void forget_mixtures(struct hd_certificate_change *change)
{
	for (uint32_t step = 0; change->mixture && step < change->step_count; step++)
		hd_certificate_free(change->mixture[step]);
	free(change->mixture);
	change->mixture = NULL;
}

/* Both copies begin with the tables before, and have the service levels of those after. */
static int take_tables(struct changing *changing)
{
	const struct hd_routes *before = changing->request->before;
	const size_t entries = (size_t)before->switch_count * before->lid_count;

	hd_routes_free(changing->now);
	hd_routes_free(changing->then);
	changing->now = hd_routes_copy(changing->after);
	changing->then = hd_routes_copy(changing->after);
	if (!changing->now || !changing->then)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < before->switch_count; sw++) {
		memcpy(hd_routes_row(changing->now, sw), hd_routes_row(before, sw),
		       before->lid_count);
		memcpy(hd_routes_row(changing->then, sw), hd_routes_row(before, sw),
		       before->lid_count);
	}
	if (changing->held)
		memset(changing->held, HD_CERTIFICATE_BEFORE, entries);
	return 0;
}

static int prove_order(struct changing *changing, enum order order, struct hd_error *err)
{
	forget_mixtures(changing->change);
	int rc = take_tables(changing) || sort_steps(changing, find_steps(changing, order))
		     ? hd_error_no_memory(err)
		     : 0;

	for (uint32_t step = 0; !rc && step < changing->change->step_count; step++)
		rc = prove_step(changing, step, err);
	return rc;
}

static int prove_after(struct changing *changing, struct hd_error *err)
{
	struct hd_certificate_request request = {.fabric = changing->fabric,
						 .routes = changing->after,
						 .add_ports = changing->held ? add_after : NULL,
						 .context = changing->request};

	if (changing->request->go_on)
		request.go_on = *changing->request->go_on;
	return hd_certificate_new(&request, &changing->change->after, err);
}

static int make(struct changing *changing, struct hd_error *err)
{
	const struct hd_fabric *fabric = changing->fabric;

	if (changing->request->add_ports) {
		changing->held = malloc((size_t)fabric->switch_count * fabric->lid_count + 1);
		if (!changing->held)
			return hd_error_no_memory(err);
	}
	int rc = prove_after(changing, err);
	if (!rc && list_entries(changing))
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = prove_order(changing, AT_ONCE, err);
	for (int order = BY_PATHS; order < ORDERS && (rc == -ELOOP || rc == -EHOSTUNREACH); order++)
		if (order != NARROWED || changing->held)
			rc = prove_order(changing, (enum order)order, err);
	return rc;
}

int hd_certificate_change_new(const struct hd_certificate_change_request *request,
			      struct hd_certificate_change **out, struct hd_error *err)
{
	const struct hd_routes *before = request->before, *after = request->after;
	struct changing changing = {.request = request, .fabric = request->fabric, .after = after};

	if (before->switch_count != after->switch_count || before->lid_count != after->lid_count ||
	    after->switch_count != request->fabric->switch_count ||
	    after->lid_count != request->fabric->lid_count)
		return hd_error_set(err, -EINVAL, "the tables before have another shape");
	if (hd_routes_refuse_maps(before, "certificates of changes", err) ||
	    hd_routes_refuse_maps(after, "certificates of changes", err))
		return -ENOTSUP;
	changing.change = calloc(1, sizeof(*changing.change));
	int rc = changing.change ? make(&changing, err) : hd_error_no_memory(err);
	hd_routes_free(changing.now);
	hd_routes_free(changing.then);
	free(changing.held);
	free(changing.chain);
	free(changing.items);
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
