/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a switch is told before it may send notices of lost ports: pFRNConfig, the key of managers, and its
 * neighbours. program_switch.c calls it at the beginning of an operation that sets tables.
 *
 * Phases, one MAD after the other: each is read first and set only if it differs. A switch that refuses one gets
 * no notices, and all else goes on.
 */
#include "program_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Phases; from FIRST_BLOCK on one for each block of neighbours. */
enum { PHASE_CONFIG, PHASE_KEY, FIRST_BLOCK };

/* ---- neighbours ---- */

void program_neighbours_free(struct hd_ar_program *program)
{
	free(program->neighbours);
	free(program->first_neighbour);
	free(program->lids);
	program->neighbours = NULL;
	program->first_neighbour = NULL;
	program->lids = NULL;
}

static struct hd_n2n_neighbour neighbour_of(const struct hd_fabric *fabric, uint32_t port,
					    uint64_t key)
{
	const uint32_t peer = fabric->peer[port];

	if (peer == HD_NONE)
		return (struct hd_n2n_neighbour){0, 0, 0};
	const uint32_t node = fabric->port_node[peer];
	const bool is_switch = node < fabric->switch_count;
	const uint32_t place = is_switch ? hd_port_index(fabric, node, 0) : peer;
	/* As in NodeInfo. */
	return (struct hd_n2n_neighbour){.node_type = node < fabric->switch_count	     ? 2
						      : fabric->node_type[node] == HD_ROUTER ? 3
											     : 1,
					 .lid = fabric->lid[place],
					 .key = is_switch ? key : 0};
}

int hd_ar_program_set_neighbours(struct hd_ar_program *program, const struct hd_fabric *fabric)
{
	const uint32_t count = fabric ? fabric->switch_count : 0;
	struct hd_ar_program made = *program;

	if (!fabric) {
		program_neighbours_free(program);
		return 0;
	}
	made.first_neighbour = calloc(count + 1u, sizeof(*made.first_neighbour));
	made.lids = calloc(count + 1u, sizeof(*made.lids));
	for (uint32_t sw = 0; made.first_neighbour && sw < count; sw++)
		made.first_neighbour[sw + 1] =
		    made.first_neighbour[sw] +
		    HD_N2N_NEIGHBOURS * hd_n2n_blocks(hd_node_ports(fabric, sw), &program->quirks);
	made.neighbours = made.first_neighbour
			      ? calloc(made.first_neighbour[count] + 1u, sizeof(*made.neighbours))
			      : NULL;
	if (!made.neighbours || !made.lids) {
		program_neighbours_free(&made);
		return -ENOMEM;
	}
	for (uint32_t sw = 0; sw < count; sw++) {
		made.lids[sw] = fabric->lid[hd_port_index(fabric, sw, 0)];
		struct hd_n2n_neighbour *records = made.neighbours + made.first_neighbour[sw];
		const uint32_t first = made.quirks.first_neighbour;
		for (uint32_t port = 1; port <= hd_node_ports(fabric, sw); port++)
			records[port - first] = neighbour_of(
			    fabric, hd_port_index(fabric, sw, port), made.config.notices.node_key);
	}
	program_neighbours_free(program);
	*program = made;
	return 0;
}

/* ---- one switch ---- */

void program_notices_forget(struct program_notices *notices)
{
	free(notices->records);
	*notices = (struct program_notices){.ready = false};
}

static const struct hd_n2n_neighbour *wanted_of(const struct hd_ar_program *program,
						const struct program_switch *sw, uint32_t *count)
{
	const uint32_t *first = &program->first_neighbour[program_index(program, sw)];

	*count = first[1] - first[0];
	return program->neighbours + first[0];
}

static bool same_config(const struct hd_ar_notices *a, const struct hd_ar_notices *b)
{
	return a->sl == b->sl && a->clear_s == b->clear_s && a->force_clear_s == b->force_clear_s &&
	       a->manager_key == b->manager_key && a->node_key == b->node_key;
}

static bool same_records(const struct hd_n2n_neighbour *a, const struct hd_n2n_neighbour *b,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].node_type != b[i].node_type || a[i].lid != b[i].lid ||
		    a[i].key != b[i].key)
			return false;
	return true;
}

bool program_notices_are_due(const struct hd_ar_program *program, struct program_switch *sw)
{
	struct program_notices *notices = &sw->notices;

	if (!program->neighbours || program->goal != PROGRAM_APPLY || !program->sender.send_n2n ||
	    program->recovery < HD_AR_RECOVERY_NOTICES ||
	    program->config.settings.recovery < HD_AR_RECOVERY_NOTICES || !sw->info.pfrn_sup ||
	    !hd_ar_config_enabled(&program->config, sw->guid))
		return false;
	/* one that gave no answer is asked again: MADs of this class only pass links that are active */
	if (notices->refused && notices->status &&
	    same_config(&notices->config, &program->config.notices))
		return false;
	uint32_t count;
	const struct hd_n2n_neighbour *wanted = wanted_of(program, sw, &count);
	return !(notices->ready && same_config(&notices->config, &program->config.notices) &&
		 notices->count == count && same_records(notices->records, wanted, count));
}

/* ---- MADs ---- */

static uint32_t block_of(const struct program_notices *notices)
{
	return notices->phase - FIRST_BLOCK;
}

static bool is_n2n(const struct program_notices *notices)
{
	return notices->phase >= PHASE_KEY;
}

static int send(struct hd_ar_program *program, struct program_switch *sw)
{
	const struct hd_ar_sender *sender = &program->sender;
	const struct program_notices *notices = &sw->notices;
	const uint32_t at = program_index(program, sw);
	int rc = is_n2n(notices)
		     ? sender->send_n2n(sender->context, at, 0, notices->set, &notices->n2n)
		     : sender->send(sender->context, at, 0, notices->set, &notices->mad);

	if (rc)
		return rc;
	sw->under_way++;
	*(notices->set ? &program->counts.sets : &program->counts.gets) += 1;
	return 0;
}

static int send_set(struct hd_ar_program *program, struct program_switch *sw)
{
	sw->notices.set = true;
	return send(program, sw);
}

/* Begins a phase: asks what it is about, or sets a block. */
static int begin_phase(struct hd_ar_program *program, struct program_switch *sw, uint32_t phase)
{
	struct program_notices *notices = &sw->notices;

	notices->phase = phase;
	notices->set = false;
	notices->mad = (struct hd_ar_mad){.attribute = HD_AR_PFRN_CONFIG};
	notices->n2n = (struct hd_n2n_mad){.attribute = phase == PHASE_KEY ? HD_N2N_KEY_INFO
									   : HD_N2N_NEIGHBORS_INFO,
					   .modifier = phase >= FIRST_BLOCK ? block_of(notices) : 0,
					   .lid = program->lids[program_index(program, sw)],
					   .manager_key = program->config.notices.manager_key};
	if (phase < FIRST_BLOCK)
		return send(program, sw);
	/* Sets a block of neighbours: to read it would take as long. */
	uint32_t count;
	const struct hd_n2n_neighbour *wanted = wanted_of(program, sw, &count);
	hd_n2n_neighbours_encode(wanted + block_of(notices) * HD_N2N_NEIGHBOURS, notices->n2n.data);
	return send_set(program, sw);
}

int program_notices_begin(struct hd_ar_program *program, struct program_switch *sw)
{
	struct program_notices *notices = &sw->notices;

	notices->ready = notices->refused = false;
	notices->status = 0;
	notices->config = program->config.notices;
	sw->stage = PROGRAM_NOTICES;
	return begin_phase(program, sw, PHASE_CONFIG);
}

static bool wants_config(const struct hd_ar_notices *config, enum hd_ar_pfrn_policy policy,
			 const uint8_t *held, uint8_t *wanted)
{
	struct hd_ar_pfrn_config info;
	uint8_t before[HD_AR_DATA];

	hd_ar_pfrn_config_decode(held, &info);
	hd_ar_pfrn_config_encode(&info, before);
	info.sl = config->sl;
	info.mask_clear_s = config->clear_s;
	info.mask_force_clear_s = config->force_clear_s;
	if (info.policy_sup)
		info.policy = policy;
	hd_ar_pfrn_config_encode(&info, wanted);
	return memcmp(before, wanted, HD_AR_DATA) != 0;
}

static bool wants_key(const struct hd_ar_notices *config, const uint8_t *held, uint8_t *wanted)
{
	struct hd_n2n_key_info info;

	hd_n2n_key_info_decode(held, &info);
	if (info.manager_key == config->manager_key && info.protect)
		return false;
	info = (struct hd_n2n_key_info){.manager_key = config->manager_key, .protect = true};
	hd_n2n_key_info_encode(&info, wanted);
	return true;
}

/* Whether the switch holds something else than is wanted. The MAD that sets it is then ready. */
static bool differs(const struct hd_ar_program *program, struct program_switch *sw,
		    const uint8_t *held)
{
	struct program_notices *notices = &sw->notices;
	const enum hd_ar_pfrn_policy policy =
	    program->plan->table_count > 1 ? HD_AR_PFRN_DFP : HD_AR_PFRN_TREE;

	return notices->phase == PHASE_CONFIG
		   ? wants_config(&notices->config, policy, held, notices->mad.data)
		   : wants_key(&notices->config, held, notices->n2n.data);
}

int program_notices_answer(struct hd_ar_program *program, struct program_switch *sw,
			   const struct hd_ar_answer *answer)
{
	if (program->stopped || answer->rc == -ECANCELED)
		return -ECANCELED;
	if (answer->rc) {
		struct program_notices *notices = &sw->notices;
		notices->refused = true;
		notices->attribute =
		    is_n2n(notices) ? notices->n2n.attribute : notices->mad.attribute;
		notices->status = answer->status;
		return 0;
	}
	if (!sw->notices.set && differs(program, sw, answer->data))
		return send_set(program, sw);
	struct program_notices *notices = &sw->notices;
	uint32_t count, phase = notices->phase + 1;
	wanted_of(program, sw, &count);
	if (phase == PHASE_KEY && !notices->config.manager_key)
		phase++;
	if (phase != FIRST_BLOCK + count / HD_N2N_NEIGHBOURS)
		return begin_phase(program, sw, phase);
	const struct hd_n2n_neighbour *wanted = wanted_of(program, sw, &count);
	struct hd_n2n_neighbour *copy = calloc(count + 1u, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, wanted, count * sizeof(*copy));
	free(sw->notices.records);
	sw->notices.records = copy;
	sw->notices.count = count;
	sw->notices.ready = true;
	return 0;
}
