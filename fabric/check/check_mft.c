/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults of single entries are found in the entries. Their consequences, loops and members that get
 * nothing, are found by following a packet of each sender.
 */
#include <heddle/base/grow.h>
#include <heddle/fabric/mfts.h>

#include <errno.h>
#include <heddle/base/arena.h>
#include <stdlib.h>
#include <string.h>

struct arrival {
	uint32_t sw, in, hops;
};

struct holder {
	struct hd_mft_report report; /* first: a report's address is its holder's */
	struct hd_arena arena;
	const struct hd_fabric *fabric;
	const struct hd_mft_group *group;
	uint32_t *entry_of; /* [switch_count] index of a switch's entry, or HD_NONE */
	bool *is_member; /* [port_count] */
	uint32_t *members;
	/* [port_count] the sender, numbered from 1, whose packet reached the port last */
	uint32_t *reached;
	uint32_t *visited; /* [switch_count] the same for switches */
	struct arrival *waiting; /* [entry_count] */
	uint32_t *missed; /* [member_count] how many senders do not reach the member */
	uint32_t *missed_first;
	bool looped;
	struct hd_mft_fault *faults;
	uint32_t room;
};

static int add_fault(struct holder *holder, struct hd_mft_fault fault)
{
	struct hd_mft_report *report = &holder->report;
	struct hd_mft_fault *faults =
	    hd_grow(holder->faults, report->fault_count, 1, &holder->room, sizeof(*faults));

	if (!faults)
		return -ENOMEM;
	report->faults = holder->faults = faults;
	holder->faults[report->fault_count++] = fault;
	return 0;
}

/* ---- single entries ---- */

static int check_port(struct holder *holder, uint32_t sw, uint32_t port)
{
	const struct hd_fabric *fabric = holder->fabric;
	struct hd_mft_fault fault = {.sw = sw, .port = port};
	uint32_t index = hd_port_index(fabric, sw, port), peer = port ? fabric->peer[index] : index;

	if (peer == HD_NONE) {
		fault.kind = HD_MFT_DEAD_END;
		return add_fault(holder, fault);
	}
	uint32_t far = fabric->port_node[peer];
	if (port && hd_is_switch(fabric, far)) {
		const struct hd_mft_entry *back = holder->group->entries + holder->entry_of[far];
		bool both = holder->entry_of[far] != HD_NONE &&
			    hd_port_set_has(&back->ports, hd_port_number(fabric, peer));
		holder->report.links += !both || peer > index;
		if (holder->entry_of[far] != HD_NONE)
			return 0;
		fault = (struct hd_mft_fault){.kind = HD_MFT_NO_ENTRY, .sw = far};
		return add_fault(holder, fault);
	}
	if (holder->is_member[peer])
		return 0;
	fault.kind = HD_MFT_STRANGER;
	return add_fault(holder, fault);
}

static int check_entries(struct holder *holder)
{
	const struct hd_mft_group *group = holder->group;
	int rc = 0;

	for (uint32_t i = 0; i < group->entry_count; i++) {
		const struct hd_mft_entry *entry = &group->entries[i];
		HD_PORT_SET_FOREACH(port, &entry->ports)
			if (!rc)
				rc = check_port(holder, entry->sw, port);
	}
	return rc;
}

/* ---- packets ---- */

static int note_loop(struct holder *holder, uint32_t sender, uint32_t sw)
{
	if (holder->looped)
		return 0;
	holder->looped = true;
	return add_fault(holder,
			 (struct hd_mft_fault){.kind = HD_MFT_LOOP, .sw = sw, .sender = sender});
}

/* Sends one copy out of one port. `queued` grows if the copy reaches a switch. */
static int send_copy(struct holder *holder, uint32_t sender, uint32_t round,
		     const struct arrival *at, uint32_t port, uint32_t *queued)
{
	const struct hd_fabric *fabric = holder->fabric;
	uint32_t index = hd_port_index(fabric, at->sw, port);
	uint32_t peer = port ? fabric->peer[index] : index;

	if (peer == HD_NONE)
		return 0;
	uint32_t far = fabric->port_node[peer];
	if (!port || !hd_is_switch(fabric, far)) {
		holder->reached[peer] = round;
		return 0;
	}
	if (holder->visited[far] == round)
		return note_loop(holder, sender, far);
	if (holder->entry_of[far] == HD_NONE)
		return 0;
	holder->visited[far] = round;
	holder->waiting[(*queued)++] =
	    (struct arrival){far, hd_port_number(fabric, peer), at->hops + 1};
	return 0;
}

static int follow(struct holder *holder, uint32_t sender, uint32_t round)
{
	const struct hd_fabric *fabric = holder->fabric;
	uint32_t in = hd_fabric_entry(fabric, sender), queued = 0;
	struct arrival start = {.sw = fabric->port_node[in], .in = hd_port_number(fabric, in)};
	int rc = 0;

	if (holder->entry_of[start.sw] == HD_NONE)
		return 0;
	holder->waiting[queued++] = start;
	holder->visited[start.sw] = round;
	for (uint32_t done = 0; !rc && done < queued; done++) {
		const struct arrival at = holder->waiting[done];
		const struct hd_mft_entry *entry = holder->group->entries + holder->entry_of[at.sw];
		HD_PORT_SET_FOREACH(port, &entry->ports)
			if (!rc && port != at.in)
				rc = send_copy(holder, sender, round, &at, port, &queued);
		if (at.hops > holder->report.depth)
			holder->report.depth = at.hops;
	}
	return rc;
}

static void note_missed(struct holder *holder, uint32_t sender, uint32_t round)
{
	for (uint32_t i = 0; i < holder->report.member_count; i++) {
		if (holder->members[i] == sender || holder->reached[holder->members[i]] == round)
			continue;
		if (!holder->missed[i]++)
			holder->missed_first[i] = sender;
	}
}

static int check_packets(struct holder *holder)
{
	const struct hd_mft_group *group = holder->group;
	uint32_t senders = group->source == HD_NONE ? holder->report.member_count : 1;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < senders; i++) {
		uint32_t sender = group->source == HD_NONE ? holder->members[i] : group->source;
		rc = follow(holder, sender, i + 1);
		note_missed(holder, sender, i + 1);
	}
	for (uint32_t i = 0; !rc && i < holder->report.member_count; i++)
		if (holder->missed[i])
			rc = add_fault(holder,
				       (struct hd_mft_fault){.kind = HD_MFT_NOT_REACHED,
							     .member = holder->members[i],
							     .sender = holder->missed_first[i],
							     .senders = holder->missed[i]});
	for (uint32_t i = 0; !rc && i < group->entry_count; i++)
		if (!holder->visited[group->entries[i].sw])
			rc = add_fault(holder, (struct hd_mft_fault){.kind = HD_MFT_UNUSED,
								     .sw = group->entries[i].sw});
	return rc;
}

/* ---- members ---- */

static void name_member(struct holder *holder, uint32_t sw, uint32_t port)
{
	const struct hd_fabric *fabric = holder->fabric;
	uint32_t index = hd_port_index(fabric, sw, port), peer = port ? fabric->peer[index] : index;

	if (peer != HD_NONE && (!port || !hd_is_switch(fabric, fabric->port_node[peer])))
		holder->is_member[peer] = true;
}

static void name_members(struct holder *holder)
{
	const struct hd_mft_group *group = holder->group;

	for (uint32_t i = 0; i < group->entry_count; i++) {
		HD_PORT_SET_FOREACH(port, &group->entries[i].ports)
			name_member(holder, group->entries[i].sw, port);
	}
}

static int check_group(const struct holder *holder, struct hd_error *err)
{
	const struct hd_mft_group *group = holder->group;

	for (uint32_t i = 0; i < group->member_count; i++)
		if (hd_fabric_entry(holder->fabric, group->members[i]) == HD_NONE)
			return hd_error_set(
			    err, -EINVAL, "member port %u is not cabled to a switch of the fabric",
			    group->members[i]);
	if (group->source != HD_NONE && hd_fabric_entry(holder->fabric, group->source) == HD_NONE)
		return hd_error_set(err, -EINVAL,
				    "source port %u is not cabled to a switch of the fabric",
				    group->source);
	for (uint32_t i = 0; i < group->entry_count; i++) {
		const struct hd_mft_entry *entry = &group->entries[i];
		uint32_t ports = hd_node_ports(holder->fabric, entry->sw);
		uint32_t beyond = hd_port_set_next(&entry->ports, ports + 1);
		if (beyond != HD_NONE)
			return hd_error_set(
			    err, -EINVAL,
			    "an entry names port %u of '%s', but the switch has only %u ports",
			    beyond, holder->fabric->node_name[entry->sw], ports);
	}
	return 0;
}

static int collect_members(struct holder *holder)
{
	const struct hd_mft_group *group = holder->group;
	uint32_t ports = holder->fabric->port_count, count = 0;

	for (uint32_t i = 0; i < group->member_count; i++)
		holder->is_member[group->members[i]] = true;
	if (!group->members)
		name_members(holder);
	for (uint32_t port = 0; port < ports; port++)
		count += holder->is_member[port];
	holder->members = hd_arena_alloc(&holder->arena, count, sizeof(*holder->members));
	holder->missed = hd_arena_alloc(&holder->arena, count, sizeof(*holder->missed));
	holder->missed_first = hd_arena_alloc(&holder->arena, count, sizeof(uint32_t));
	if (hd_arena_check(&holder->arena))
		return -ENOMEM;
	for (uint32_t port = 0; port < ports; port++)
		if (holder->is_member[port])
			holder->members[holder->report.member_count++] = port;
	holder->report.members = holder->members;
	return 0;
}

static int prepare(struct holder *holder)
{
	const struct hd_mft_group *group = holder->group;
	uint32_t switches = holder->fabric->switch_count, ports = holder->fabric->port_count;
	struct hd_arena *arena = &holder->arena;

	holder->entry_of = hd_arena_alloc(arena, switches, sizeof(*holder->entry_of));
	holder->visited = hd_arena_alloc(arena, switches, sizeof(*holder->visited));
	holder->waiting = hd_arena_alloc(arena, (size_t)switches + 1, sizeof(*holder->waiting));
	holder->is_member = hd_arena_alloc(arena, ports, sizeof(*holder->is_member));
	holder->reached = hd_arena_alloc(arena, ports, sizeof(*holder->reached));
	if (hd_arena_check(arena))
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++)
		holder->entry_of[sw] = HD_NONE;
	for (uint32_t i = 0; i < group->entry_count; i++)
		holder->entry_of[group->entries[i].sw] = i;
	return 0;
}

static int check(struct holder *holder)
{
	int rc = collect_members(holder);

	if (!rc)
		rc = check_entries(holder);
	return rc ? rc : check_packets(holder);
}

int hd_mft_check(const struct hd_fabric *fabric, const struct hd_mft_group *group,
		 struct hd_mft_report **out, struct hd_error *err)
{
	struct holder *holder = calloc(1, sizeof(*holder));

	if (!holder)
		return hd_error_no_memory(err);
	holder->fabric = fabric;
	holder->group = group;
	int rc = check_group(holder, err);
	if (!rc && (prepare(holder) || check(holder)))
		rc = hd_error_no_memory(err);
	if (rc)
		hd_mft_report_free(&holder->report);
	else
		*out = &holder->report;
	return rc;
}

void hd_mft_report_free(struct hd_mft_report *report)
{
	struct holder *holder = (struct holder *)report;

	if (!holder)
		return;
	free(holder->faults);
	hd_arena_release(&holder->arena);
	free(holder);
}
