/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programming of all switches: how many at a time, in which order, and when it is complete. ar_link.c and the
 * plugin drive it with a sender and its answers.
 *
 * An operation (detect, read, apply, disable, end of recovery) goes through every switch once; program_switch.c
 * has what happens at one of them. After too many errors in a time a switch is left static, and the others go on.
 */
#include "program_state.h"

#include <errno.h>
#include <heddle/ar_manager/program.h>
#include <stdlib.h>
#include <string.h>

/* ---- program order ---- */

struct place {
	bool above; /* no host is there */
	uint32_t neighbour; /* the first one; HD_NONE: none */
	uint32_t sw;
};

static int program_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->above != y->above)
		return x->above ? 1 : -1;
	if (x->neighbour != y->neighbour)
		return x->neighbour < y->neighbour ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static uint32_t first_neighbour(const struct hd_fabric *fabric, uint32_t sw)
{
	uint32_t first = HD_NONE;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (fabric->isl_to[link] < first)
			first = fabric->isl_to[link];
	return first;
}

int hd_ar_program_order(const struct hd_fabric *fabric, uint32_t *order)
{
	struct place *places = calloc(fabric->switch_count + 1u, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		places[sw] =
		    (struct place){!hd_has_hosts(fabric, sw), first_neighbour(fabric, sw), sw};
	qsort(places, fabric->switch_count, sizeof(*places), program_compare);
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		order[i] = places[i].sw;
	free(places);
	return 0;
}

/* ---- program ---- */

/* Switches that are read or programmed at the same time: each needs memory for its blocks. */
#define AT_A_TIME 256u

struct hd_ar_program *hd_ar_program_new(const struct hd_ar_sender *sender)
{
	struct hd_ar_program *program = calloc(1, sizeof(*program));

	if (!program)
		return NULL;
	program->sender = *sender;
	program->quirks = hd_ar_quirks_default;
	program->config = (struct hd_ar_config){.enable = true,
						.settings = hd_ar_settings_default,
						.max_errors = 10,
						.error_window_s = 5};
	return program;
}

void hd_ar_program_forget(struct hd_ar_program *program)
{
	for (uint32_t i = 0; i < program->count; i++)
		program_switch_forget(&program->switches[i]);
}

void hd_ar_program_free(struct hd_ar_program *program)
{
	if (!program)
		return;
	hd_ar_program_forget(program);
	hd_ar_config_release(&program->config);
	program_neighbours_free(program);
	free(program->switches);
	free(program->order);
	free(program);
}

static bool same_quirks(const struct hd_ar_quirks *a, const struct hd_ar_quirks *b)
{
	return a->old_block_lids == b->old_block_lids &&
	       a->active_minus_one == b->active_minus_one && a->table_shift == b->table_shift &&
	       a->sub_group_major == b->sub_group_major &&
	       a->unreachable_port == b->unreachable_port && a->group_copy == b->group_copy &&
	       a->first_neighbour == b->first_neighbour;
}

int hd_ar_program_configure(struct hd_ar_program *program, const struct hd_ar_config *config,
			    const struct hd_ar_quirks *quirks)
{
	struct hd_ar_config copy = *config;

	copy.switches = calloc(copy.switch_count + 1u, sizeof(*copy.switches));
	if (!copy.switches)
		return -ENOMEM;
	if (copy.switch_count)
		memcpy(copy.switches, config->switches, copy.switch_count * sizeof(*copy.switches));
	hd_ar_config_release(&program->config);
	program->config = copy;
	if (!same_quirks(&program->quirks, quirks))
		hd_ar_program_forget(program);
	program->quirks = *quirks;
	return 0;
}

int hd_ar_program_set_switches(struct hd_ar_program *program, const uint64_t *guids, uint32_t count)
{
	struct program_switch *old = program->switches, *now = calloc(count + 1u, sizeof(*now));
	uint32_t next = 0;

	if (!now)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		while (next < program->count && old[next].guid < guids[i])
			program_switch_forget(&old[next++]);
		if (next < program->count && old[next].guid == guids[i])
			now[i] = old[next++];
		now[i].guid = guids[i];
	}
	while (next < program->count)
		program_switch_forget(&old[next++]);
	free(old);
	program_neighbours_free(program);
	free(program->order);
	program->order = NULL;
	program->switches = now;
	program->count = count;
	return 0;
}

int hd_ar_program_set_order(struct hd_ar_program *program, const uint32_t *order)
{
	uint32_t *copy = calloc(program->count + 1u, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	if (program->count)
		memcpy(copy, order, program->count * sizeof(*copy));
	free(program->order);
	program->order = copy;
	return 0;
}

void hd_ar_program_set_vendors(struct hd_ar_program *program, const uint32_t *vendor_id)
{
	for (uint32_t sw = 0; sw < program->count; sw++)
		program->switches[sw].vendor_id = vendor_id[sw];
}

static uint32_t limit_of(const struct hd_ar_program *program)
{
	bool small = program->goal != PROGRAM_READ && program->goal != PROGRAM_APPLY;

	return small ? program->count : AT_A_TIME;
}

static struct program_switch *next_switch(struct hd_ar_program *program)
{
	const uint32_t at = program->begun++;

	return &program->switches[program->order ? program->order[at] : at];
}

static void begin_more(struct hd_ar_program *program)
{
	while (!program->stopped && program->begun < program->count &&
	       program->running < limit_of(program)) {
		struct program_switch *sw = next_switch(program);
		program_switch_begin(program, sw);
		program->running += sw->stage != PROGRAM_IDLE;
	}
}

static void program_begin(struct hd_ar_program *program, enum program_goal goal,
			  const struct hd_ar_plan *plan, bool reread)
{
	program->goal = goal;
	program->plan = plan;
	program->reread = reread;
	program->stopped = false;
	program->begun = program->running = 0;
	begin_more(program);
}

void hd_ar_program_detect(struct hd_ar_program *program)
{
	program_begin(program, PROGRAM_DETECT, NULL, false);
}

void hd_ar_program_apply(struct hd_ar_program *program, const struct hd_ar_plan *plan, bool reread)
{
	program_begin(program, PROGRAM_APPLY, plan, reread);
}

void hd_ar_program_read(struct hd_ar_program *program, const struct hd_ar_plan *plan)
{
	program_begin(program, PROGRAM_READ, plan, true);
}

void hd_ar_program_disable(struct hd_ar_program *program, bool unread)
{
	program->unread = unread;
	program_begin(program, PROGRAM_DISABLE, NULL, false);
}

void hd_ar_program_end_recovery(struct hd_ar_program *program)
{
	program_begin(program, PROGRAM_END_RECOVERY, NULL, false);
}

void hd_ar_program_set_recovery(struct hd_ar_program *program, enum hd_ar_recovery most)
{
	program->recovery = most;
}

void hd_ar_program_stop(struct hd_ar_program *program)
{
	program->stopped = true;
	while (program->begun < program->count)
		next_switch(program)->rc = -ECANCELED;
}

void hd_ar_program_answer(struct hd_ar_program *program, uint32_t sw, uint32_t slot,
			  const struct hd_ar_answer *answer)
{
	struct program_switch *answering = &program->switches[sw];

	program_switch_answer(program, answering, slot, answer);
	if (answering->stage != PROGRAM_IDLE)
		return;
	program->running--;
	begin_more(program);
}

uint32_t hd_ar_program_busy(const struct hd_ar_program *program)
{
	return program->running;
}

uint32_t hd_ar_program_switch_count(const struct hd_ar_program *program)
{
	return program->count;
}

struct hd_ar_capability hd_ar_program_capability(const struct hd_ar_program *program, uint32_t sw,
						 uint32_t lid_count)
{
	const struct program_switch *asked = &program->switches[sw];
	const struct hd_ar_settings settings = hd_ar_config_settings(&program->config, asked->guid);

	if (asked->standing != HD_AR_ABLE || !hd_ar_settings_fit(&settings, &asked->info) ||
	    !hd_ar_config_enabled(&program->config, asked->guid))
		return (struct hd_ar_capability){0};
	struct hd_ar_capability can = hd_ar_capability_of(&asked->mask, &asked->info);
	uint32_t mode;
	can.private_tables =
	    program->config.algorithm == HD_AR_DFP && asked->private_known &&
	    hd_ar_private_fits(&asked->private_info, HD_AR_TABLES, lid_count, &mode);
	return can;
}

struct hd_ar_capability *hd_ar_program_capabilities(const struct hd_ar_program *program,
						    uint32_t lid_count)
{
	struct hd_ar_capability *all = calloc(program->count + 1u, sizeof(*all));

	for (uint32_t sw = 0; all && sw < program->count; sw++)
		all[sw] = hd_ar_program_capability(program, sw, lid_count);
	return all;
}

struct hd_ar_switch_report hd_ar_program_report(const struct hd_ar_program *program, uint32_t sw)
{
	const struct program_switch *asked = &program->switches[sw];

	struct hd_ar_switch_report report = {.guid = asked->guid,
					     .standing = asked->standing,
					     .mask = asked->mask,
					     .info = asked->info,
					     .held = asked->held,
					     .rc = asked->rc,
					     .attribute = asked->attribute,
					     .modifier = asked->modifier,
					     .status = asked->status,
					     .uncertain = asked->uncertain};

	report.recovery = asked->info_known ? hd_ar_recovery_of(&asked->info) : HD_AR_RECOVERY_OFF;
	report.recovery_refused = asked->notices.refused || asked->recovery_refused;
	report.recovery_attribute = asked->recovery_refused ? HD_AR_INFO : asked->notices.attribute;
	report.recovery_status =
	    asked->recovery_refused ? asked->recovery_status : asked->notices.status;
	memcpy(report.raw_mask, asked->raw_mask, HD_AR_DATA);
	memcpy(report.raw_info, asked->raw_info, HD_AR_DATA);
	return report;
}

struct hd_ar_program_counts hd_ar_program_counts(const struct hd_ar_program *program)
{
	return program->counts;
}

const char *hd_ar_standing_name(enum hd_ar_standing standing)
{
	static const char *const names[] = {
	    "not asked", "silent",     "no adaptive routing", "left to another manager",
	    "ready",	 "left static"};

	return names[standing];
}
