/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of things, their labels, and the record that all parts share. A thing is found by GUIDs and ports alone; its names are
 * for people, and only if no other node has them. In the record a number stands for what was wanted at some time: `number` is
 * that of the last request, `routed` that of the last decision, `refused` and `complete` say how that went.
 */
#include "drained.h"

#include <errno.h>
#include <heddle/base/plain.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int drained_set_copy(const struct drained_set *from, struct drained_set *to)
{
	struct drained_thing *things = malloc((from->count + 1u) * sizeof(*things));

	if (!things)
		return -ENOMEM;
	if (from->count)
		memcpy(things, from->things, from->count * sizeof(*things));
	*to = (struct drained_set){things, from->count};
	return 0;
}

void drained_set_release(struct drained_set *set)
{
	free(set->things);
	*set = (struct drained_set){0};
}

int drained_set_add(struct drained_set *set, const struct drained_thing *thing)
{
	if (set->count == DRAINED_MOST)
		return -E2BIG;
	struct drained_thing *things =
	    realloc(set->things, (set->count + 1u) * sizeof(*set->things));
	if (!things)
		return -ENOMEM;
	set->things = things;
	set->things[set->count++] = *thing;
	return 0;
}

void drained_set_remove(struct drained_set *set, uint32_t index)
{
	set->count--;
	memmove(&set->things[index], &set->things[index + 1],
		(set->count - index) * sizeof(*set->things));
}

static bool same_end(const struct drained_thing *one, unsigned end,
		     const struct drained_thing *other, unsigned other_end)
{
	return one->guid[end] == other->guid[other_end] && one->port[end] == other->port[other_end];
}

/* A port stands for its cable, whatever is at the other end. */
static bool same_thing(const struct drained_thing *one, const struct drained_thing *other)
{
	if (one->cable != other->cable)
		return false;
	if (!one->cable)
		return one->guid[0] == other->guid[0];
	if (!one->guid[1] || !other->guid[1])
		return same_end(one, 0, other, 0) || same_end(one, 0, other, 1) ||
		       same_end(one, 1, other, 0);
	return (same_end(one, 0, other, 0) && same_end(one, 1, other, 1)) ||
	       (same_end(one, 0, other, 1) && same_end(one, 1, other, 0));
}

uint32_t drained_set_find(const struct drained_set *set, const struct drained_thing *thing)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (same_thing(&set->things[i], thing))
			return i;
	return HD_NONE;
}

bool drained_set_has_all(const struct drained_set *set, const struct drained_set *of)
{
	for (uint32_t i = 0; i < of->count; i++)
		if (drained_set_find(set, &of->things[i]) == HD_NONE)
			return false;
	return true;
}

bool drained_set_equal(const struct drained_set *one, const struct drained_set *other)
{
	bool equal = one->count == other->count;

	for (uint32_t i = 0; equal && i < one->count; i++)
		equal = one->things[i].guid[1] == other->things[i].guid[1] &&
			same_thing(&one->things[i], &other->things[i]);
	return equal;
}

static void take_end(struct drained_thing *thing, unsigned end, const struct hd_fabric *fabric,
		     uint32_t node, uint32_t port)
{
	thing->guid[end] = fabric->node_guid[node];
	thing->port[end] = (uint8_t)port;
	hd_plain(fabric->node_name[node], thing->name[end], DRAINED_NAME);
}

struct drained_thing drained_thing_of(const struct hd_fabric *fabric,
				      const struct hd_fabric_change *change)
{
	struct drained_thing thing = {.cable = change->cable};

	if (!change->cable) {
		take_end(&thing, 0, fabric, change->index, 0);
		return thing;
	}
	const uint32_t peer = fabric->peer[change->index];
	take_end(&thing, 0, fabric, fabric->port_node[change->index],
		 hd_port_number(fabric, change->index));
	if (peer != HD_NONE)
		take_end(&thing, 1, fabric, fabric->port_node[peer], hd_port_number(fabric, peer));
	return thing;
}

static bool has_name(const struct drained_thing *thing, const char *name, uint64_t guid)
{
	for (unsigned end = 0; end < 2; end++)
		if (thing->guid[end] && thing->guid[end] != guid && !strcmp(thing->name[end], name))
			return true;
	return false;
}

static bool is_shared(const char *name, uint64_t guid, const struct hd_fabric *fabric,
		      const struct drained_set *drained)
{
	for (uint32_t node = 0; node < fabric->node_count; node++)
		if (fabric->node_guid[node] != guid && !strcmp(fabric->node_name[node], name))
			return true;
	for (uint32_t i = 0; i < drained->count; i++)
		if (has_name(&drained->things[i], name, guid))
			return true;
	return false;
}

void drained_set_mark_shared(struct drained_set *set, const struct hd_fabric *fabric,
			     const struct drained_set *drained)
{
	for (uint32_t i = 0; i < set->count; i++) {
		struct drained_thing *thing = &set->things[i];
		for (unsigned end = 0; end < 2; end++)
			thing->shared[end] =
			    thing->shared[end] ||
			    is_shared(thing->name[end], thing->guid[end], fabric, drained);
	}
}

/* "S1_0[5]", or with the GUID: "0x0000000000200000[5]"; a switch has no port. Returns the end of the text. */
static char *print_end(const struct drained_thing *thing, unsigned end, bool named, char *text)
{
	text += named ? sprintf(text, "%s", thing->name[end])
		      : sprintf(text, "0x%016" PRIx64, thing->guid[end]);
	return thing->cable ? text + sprintf(text, "[%u]", thing->port[end]) : text;
}

void drained_label(const struct drained_thing *thing, char text[DRAINED_LABEL])
{
	const unsigned ends = thing->cable && thing->guid[1] ? 2 : 1;
	bool named[2] = {false, false};
	char *at = text;

	for (unsigned end = 0; end < ends; end++) {
		named[end] = !thing->shared[end] && *thing->name[end];
		at += end ? sprintf(at, " - ") : 0;
		at = print_end(thing, end, named[end], at);
	}
	if (!named[0] && !named[1])
		return;
	for (unsigned end = 0; end < ends; end++) {
		at += sprintf(at, end ? " - " : " (");
		at = print_end(thing, end, false, at);
	}
	sprintf(at, ")");
}

/* The port of an end in the fabric; HD_NONE: it is not there. */
static uint32_t port_of(const struct drained_thing *thing, unsigned end,
			const struct hd_fabric *fabric)
{
	const uint32_t node = hd_fabric_find_node(fabric, thing->guid[end]);

	return node < fabric->switch_count && thing->port[end] &&
		       thing->port[end] <= hd_node_ports(fabric, node)
		   ? hd_port_index(fabric, node, thing->port[end])
		   : HD_NONE;
}

static bool locate(const struct drained_thing *thing, const struct hd_fabric *fabric,
		   struct hd_fabric_change *out)
{
	*out = (struct hd_fabric_change){.lost = true, .cable = thing->cable};
	if (!thing->cable) {
		out->index = hd_fabric_find_node(fabric, thing->guid[0]);
		return out->index < fabric->switch_count;
	}
	out->index = port_of(thing, 0, fabric);
	if (out->index == HD_NONE || fabric->peer[out->index] == HD_NONE)
		return false;
	const uint32_t peer = fabric->peer[out->index];
	return thing->guid[1] ? port_of(thing, 1, fabric) == peer
			      : hd_is_switch(fabric, fabric->port_node[peer]);
}

uint32_t drained_set_locate(const struct drained_set *set, const struct hd_fabric *fabric,
			    struct hd_fabric_change *changes)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < set->count; i++)
		count += locate(&set->things[i], fabric, &changes[count]);
	return count;
}

void drained_init(struct drained *drained)
{
	*drained = (struct drained){.wake = -1};
	pthread_mutex_init(&drained->lock, NULL);
}

void drained_release(struct drained *drained)
{
	drained_set_release(&drained->wanted);
	drained_set_release(&drained->accepted);
	drained_set_release(&drained->out);
	free(drained->leads);
	pthread_mutex_destroy(&drained->lock);
}

/* Writes the eventfd. With the lock. */
static void drained_tell(struct drained *drained)
{
	const uint64_t one = 1;
	const ssize_t written = drained->wake < 0 ? 0 : write(drained->wake, &one, sizeof(one));

	(void)written; /* it fails only if it has been written very often already */
}

int drained_read(struct drained *drained, struct drained_state *out)
{
	*out = (struct drained_state){0};
	pthread_mutex_lock(&drained->lock);
	out->routed = drained->routed;
	out->complete = drained->complete;
	out->refused = drained->refused;
	out->entries = drained->entries;
	out->unproved = drained->unproved;
	memcpy(out->refusal, drained->refusal, sizeof(out->refusal));
	memcpy(out->suspended, drained->suspended, sizeof(out->suspended));
	memcpy(out->incomplete, drained->incomplete, sizeof(out->incomplete));
	memcpy(out->unstored, drained->unstored, sizeof(out->unstored));
	int rc = drained_set_copy(&drained->accepted, &out->accepted);
	if (!rc)
		rc = drained_set_copy(&drained->out, &out->out);
	pthread_mutex_unlock(&drained->lock);
	if (rc)
		drained_state_release(out);
	return rc;
}

void drained_state_release(struct drained_state *state)
{
	drained_set_release(&state->accepted);
	drained_set_release(&state->out);
}

uint64_t drained_want(struct drained *drained, struct drained_set *set, bool unproved_too)
{
	pthread_mutex_lock(&drained->lock);
	struct drained_set former = drained->wanted;
	drained->wanted = *set;
	*set = (struct drained_set){0};
	drained->unproved_too = unproved_too;
	const uint64_t number = ++drained->number;
	pthread_mutex_unlock(&drained->lock);
	drained_set_release(&former);
	return number;
}

uint64_t drained_reroute(struct drained *drained, bool unproved_too)
{
	pthread_mutex_lock(&drained->lock);
	drained->unproved_too = unproved_too;
	const uint64_t number = drained->afresh = ++drained->number;
	pthread_mutex_unlock(&drained->lock);
	return number;
}

/* Without memory for a copy the set is empty. */
static void replace(struct drained_set *set, const struct drained_set *by)
{
	struct drained_set copy = {0};

	if (by)
		drained_set_copy(by, &copy);
	drained_set_release(set);
	*set = copy;
}

static void set_incomplete(struct drained *drained, const char *reason)
{
	drained->complete = 0;
	snprintf(drained->incomplete, sizeof(drained->incomplete), "%s", reason);
}

static void refuse(struct drained *drained, uint64_t number, const char *reason)
{
	drained->refused = number;
	snprintf(drained->refusal, sizeof(drained->refusal), "%s", reason);
	if (drained->number == number)
		replace(&drained->wanted, &drained->accepted);
}

void drained_restore(struct drained *drained, struct drained_set *set)
{
	pthread_mutex_lock(&drained->lock);
	drained_set_release(&drained->accepted);
	drained->accepted = *set;
	*set = (struct drained_set){0};
	replace(&drained->wanted, &drained->accepted);
	drained->number++;
	set_incomplete(drained, "no sweep of this OpenSM is complete");
	pthread_mutex_unlock(&drained->lock);
}

/* What was left out before already, no switch uses, whatever table it has. */
static void leave_out(struct drained *drained, const struct drained_set *set)
{
	struct drained_set before = drained->out;

	drained->out = (struct drained_set){0};
	replace(&drained->out, set);
	if (!drained_set_has_all(&before, &drained->out))
		set_incomplete(drained, "the sweep that leaves it out is not complete");
	drained_set_release(&before);
}

void drained_note(struct drained *drained, struct drained_decision *decision)
{
	pthread_mutex_lock(&drained->lock);
	drained->routed = decision->number;
	if (*decision->refusal) {
		refuse(drained, decision->number, decision->refusal);
	} else {
		drained_set_release(&drained->accepted);
		drained->accepted = decision->set;
		decision->set = (struct drained_set){0};
	}
	leave_out(drained, decision->left_out ? &drained->accepted : NULL);
	memcpy(drained->suspended, decision->suspended, sizeof(drained->suspended));
	drained->entries = drained->unproved = 0;
	drained_tell(drained);
	pthread_mutex_unlock(&drained->lock);
}

void drained_refuse(struct drained *drained, uint64_t number, const char *reason)
{
	pthread_mutex_lock(&drained->lock);
	const bool is_new = number > drained->routed;
	if (is_new && number == drained->number && number != drained->afresh &&
	    drained_set_has_all(&drained->accepted, &drained->wanted)) {
		replace(&drained->accepted, &drained->wanted);
		drained->routed = number;
	} else if (is_new) {
		refuse(drained, number, reason);
	}
	drained_tell(drained);
	pthread_mutex_unlock(&drained->lock);
}

void drained_note_leads(struct drained *drained, struct drained_lead *leads, uint32_t count)
{
	pthread_mutex_lock(&drained->lock);
	free(drained->leads);
	drained->leads = leads;
	drained->lead_count = count;
	pthread_mutex_unlock(&drained->lock);
}

void drained_note_tables(struct drained *drained, const char *incomplete)
{
	pthread_mutex_lock(&drained->lock);
	set_incomplete(drained, incomplete);
	if (!*incomplete)
		drained->complete = drained->routed;
	drained_tell(drained);
	pthread_mutex_unlock(&drained->lock);
}

void drained_note_stored(struct drained *drained, const char *unstored)
{
	pthread_mutex_lock(&drained->lock);
	snprintf(drained->unstored, sizeof(drained->unstored), "%s", unstored);
	pthread_mutex_unlock(&drained->lock);
}

void drained_note_order(struct drained *drained, uint64_t entries, uint64_t unproved)
{
	pthread_mutex_lock(&drained->lock);
	drained->entries = entries;
	drained->unproved = unproved;
	pthread_mutex_unlock(&drained->lock);
}
