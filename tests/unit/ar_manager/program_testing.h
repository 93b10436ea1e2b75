/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Switches that a program can be tried on, with faults, in simulated time. */
#ifndef PROGRAM_TESTING_H
#define PROGRAM_TESTING_H

#include "ar_testing.h"

#include <errno.h>
#include <string.h>

#define FAKE_BLOCKS 128u
#define FAKE_N2N_BLOCKS 4u
#define FAKE_MADS 65536u
#define FAKE_SILENCE 3000u /* ms that a MAD takes without an answer, with all its tries */
#define FAKE_MOST 5000u /* MADs to one switch: no operation needs more */

enum fake_fault { FAKE_NONE, FAKE_SILENT, FAKE_REFUSES, FAKE_IGNORES, FAKE_LOSES };

struct fake_switch {
	bool able;
	bool private; /* has private forwarding tables */
	struct hd_ar_info info;
	uint8_t groups[FAKE_BLOCKS][HD_AR_DATA], lft[FAKE_BLOCKS][HD_AR_DATA];
	enum fake_fault fault;
	uint32_t fault_after; /* MADs that are done before the fault begins */
	uint32_t seen, gets, sets;
	uint32_t off, on; /* times that AR was switched */
	/* ---- notices ---- */
	struct hd_ar_pfrn_config pfrn;
	uint8_t neighbours[FAKE_N2N_BLOCKS][HD_N2N_DATA], key_info[HD_N2N_DATA];
	uint32_t blocks_set; /* of neighbours */
	uint32_t blocks_before; /* those when notices were enabled last */
	uint32_t refuses; /* attribute that it refuses, with the status 0x1C */
	bool without_recovery; /* it refuses an info with fast recovery */
};

struct fake_mad {
	uint32_t sw, slot;
	bool set;
	struct hd_ar_mad mad;
	bool is_n2n;
	struct hd_n2n_mad n2n;
};

struct fake_net {
	struct hd_ar_program *program;
	struct fake_switch *switches;
	uint32_t count;
	struct fake_mad *mads; /* [mad_count] under way, in no order */
	uint32_t mad_count;
	uint64_t now, random;
};

static inline int fake_send(void *context, uint32_t sw, uint32_t slot, bool set,
			    const struct hd_ar_mad *mad)
{
	struct fake_net *net = context;

	assert_true(net->mad_count < FAKE_MADS);
	net->mads[net->mad_count++] =
	    (struct fake_mad){.sw = sw, .slot = slot, .set = set, .mad = *mad};
	return 0;
}

static inline int fake_send_n2n(void *context, uint32_t sw, uint32_t slot, bool set,
				const struct hd_n2n_mad *mad)
{
	struct fake_net *net = context;

	assert_true(net->mad_count < FAKE_MADS);
	net->mads[net->mad_count++] = (struct fake_mad){.sw = sw,
							.slot = slot,
							.set = set,
							.is_n2n = true,
							.n2n = *mad,
							.mad.attribute = mad->attribute};
	return 0;
}

static inline void fake_do_n2n(struct fake_switch *sw, const struct fake_mad *asked, uint8_t *data)
{
	const struct hd_n2n_mad *mad = &asked->n2n;
	uint8_t *place = sw->key_info;

	if (mad->attribute == HD_N2N_NEIGHBORS_INFO) {
		assert_true(mad->modifier < FAKE_N2N_BLOCKS);
		place = sw->neighbours[mad->modifier];
		sw->blocks_set += asked->set;
	}
	if (asked->set)
		memcpy(place, mad->data, HD_N2N_DATA);
	memcpy(data, place, HD_N2N_DATA);
}

/* Whether the switch refuses the MAD, whatever fault it has. */
static inline bool fake_refuses(const struct fake_switch *sw, const struct fake_mad *asked)
{
	struct hd_ar_info info;

	if (sw->refuses == asked->mad.attribute)
		return true;
	if (!sw->without_recovery || !asked->set || asked->mad.attribute != HD_AR_INFO)
		return false;
	hd_ar_info_decode(asked->mad.data, &info);
	return info.fr_enabled || info.pfrn_enabled;
}

/* Whether the switch drops the MAD: it protects another key. */
static inline bool fake_drops(const struct fake_switch *sw, const struct fake_mad *asked)
{
	struct hd_n2n_key_info info;

	hd_n2n_key_info_decode(sw->key_info, &info);
	return asked->is_n2n && info.protect && info.manager_key != asked->n2n.manager_key;
}

static inline uint64_t fake_now(void *context)
{
	return ((struct fake_net *)context)->now;
}

static inline void fake_set_info(struct fake_switch *sw, const uint8_t *data)
{
	struct hd_ar_info info;

	hd_ar_info_decode(data, &info);
	sw->off += sw->info.enabled && !info.enabled;
	sw->on += !sw->info.enabled && info.enabled;
	if (info.pfrn_enabled && !sw->info.pfrn_enabled)
		sw->blocks_before = sw->blocks_set;
	sw->info = info;
}

/* Does a Get or a Set; the answer goes into data. */
static inline void fake_do(struct fake_switch *sw, const struct fake_mad *asked, uint8_t *data)
{
	const struct hd_ar_mad *mad = &asked->mad;
	const uint32_t private =
	    1u << HD_AR_CAN_PRIVATE_LFT | 1u << HD_AR_CAN_PORT_SL_TO_PRIVATE_LFT;
	const struct hd_ar_capability_mask mask = {
	    .words = {(sw->able ? 1u << HD_AR_CAN_REV1 : 0) | (sw->private ? private : 0)}};
	const struct hd_ar_private_info tables = {
	    .table_count = 3, .mode_cap = 1, .modes = {{.bank_kilolids = 1, .banks = 3}}};
	uint8_t *place = mad->attribute == HD_AR_GROUP_TABLE ? sw->groups[mad->modifier]
							     : sw->lft[mad->modifier];

	if (asked->is_n2n) {
		fake_do_n2n(sw, asked, data);
		return;
	}
	memset(data, 0, HD_AR_DATA);
	switch (mad->attribute) {
	case HD_AR_GENERAL_INFO:
		hd_ar_capability_mask_encode(&mask, data);
		return;
	case HD_AR_INFO:
		if (asked->set && sw->fault != FAKE_IGNORES)
			fake_set_info(sw, mad->data);
		hd_ar_info_encode(&sw->info, data);
		return;
	case HD_AR_PFRN_CONFIG:
		if (asked->set)
			hd_ar_pfrn_config_decode(mad->data, &sw->pfrn);
		hd_ar_pfrn_config_encode(&sw->pfrn, data);
		return;
	case HD_AR_PRIVATE_LFT_INFO:
		assert_false(asked->set);
		hd_ar_private_info_encode(&tables, data);
		return;
	default:
		assert_true(mad->modifier < FAKE_BLOCKS);
		if (asked->set)
			memcpy(place, mad->data, HD_AR_DATA);
		memcpy(data, place, HD_AR_DATA);
	}
}

/* Answers one of the MADs that are under way. */
static inline void fake_answer(struct fake_net *net)
{
	uint8_t data[HD_N2N_DATA];
	uint32_t i = below(&net->random, net->mad_count);
	const struct fake_mad asked = net->mads[i];
	struct fake_switch *sw = &net->switches[asked.sw];
	const bool faulty = sw->seen++ >= sw->fault_after;
	struct hd_ar_answer answer = {.tries = 1, .data = data};

	net->mads[i] = net->mads[--net->mad_count];
	net->now++;
	assert_true(sw->seen < FAKE_MOST);
	*(asked.set ? &sw->sets : &sw->gets) += 1;
	if ((faulty && sw->fault == FAKE_SILENT) || fake_drops(sw, &asked)) {
		answer = (struct hd_ar_answer){.rc = -ETIMEDOUT, .tries = 4};
		net->now += FAKE_SILENCE;
	}
	if ((faulty && sw->fault == FAKE_REFUSES) || fake_refuses(sw, &asked))
		answer = (struct hd_ar_answer){.rc = -EREMOTEIO, .status = 0x1C, .tries = 1};
	else if (faulty && sw->fault == FAKE_LOSES && !below(&net->random, 20))
		answer = (struct hd_ar_answer){.rc = -ETIMEDOUT, .tries = 1};
	if (!answer.rc || (sw->fault == FAKE_LOSES && below(&net->random, 2)))
		fake_do(sw, &asked, data);
	hd_ar_program_answer(net->program, asked.sw, asked.slot, &answer);
}

static inline void fake_work(struct fake_net *net)
{
	while (net->mad_count)
		fake_answer(net);
	assert_int_equal(hd_ar_program_busy(net->program), 0);
}

static inline struct fake_net *fake_net_new(const struct hd_fabric *fabric, uint64_t seed)
{
	struct fake_net *net = calloc(1, sizeof(*net));
	const struct hd_ar_sender sender = {fake_send, fake_send_n2n, fake_now, net};

	net->count = fabric->switch_count;
	net->switches = calloc(net->count, sizeof(*net->switches));
	net->mads = calloc(FAKE_MADS, sizeof(*net->mads));
	net->random = seed;
	net->now = 1000000;
	for (uint32_t i = 0; i < net->count; i++) {
		net->switches[i].able = true;
		net->switches[i].info = (struct hd_ar_info){
		    .group_cap = 100, .sub_grps_supported = 2, .by_sl_cap = 1, .by_transp_cap = 1};
	}
	net->program = hd_ar_program_new(&sender);
	return net;
}

static inline void fake_net_free(struct fake_net *net)
{
	hd_ar_program_free(net->program);
	free(net->mads);
	free(net->switches);
	free(net);
}

#endif
