/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_probe.h"
#include "need.h"
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ar_probe_release(struct ar_probe *probe)
{
	for (uint32_t i = 0; i < probe->count; i++) {
		struct hd_ar_probe_switch *sw = &probe->switches[i];
		free((void *)sw->groups);
		free((void *)sw->entries);
		free((void *)sw->lft);
	}
	free(probe->switches);
	probe->switches = NULL;
	probe->count = 0;
}

#ifdef HEDDLE_MAD

#include <heddle/mad/queue.h>
#include <heddle/mad/umad_port.h>

#define GROUP_BLOCKS_MAX 2048u

struct asking {
	struct ar_probe *probe;
	struct hd_umad_port *port;
	struct hd_smp_queue *queue; /* destinations: the switches */
	struct hd_lft_row *rows; /* [count] */
	struct hd_gmp *gmps; /* [count] NeighborsInfo */
};

static void take(void *cookie, const struct hd_smp_result *result)
{
	struct hd_ar_probe_answer *answer = cookie;

	answer->rc = result->rc;
	answer->status = result->status;
	if (!result->rc)
		memcpy(answer->data, result->data, sizeof(answer->data));
}

static void ask(struct asking *asking, uint32_t sw, uint16_t attribute, uint32_t modifier,
		struct hd_ar_probe_answer *answer)
{
	const struct hd_smp smp = {
	    .method = HD_SMP_GET, .attribute = attribute, .modifier = modifier};

	need_enough(hd_smp_queue_submit(asking->queue, sw, &smp, take, answer));
}

/* Answers that were not asked for yet. */
static struct hd_ar_probe_answer *answers_new(uint32_t count)
{
	struct hd_ar_probe_answer *answers = need(calloc(count + 1u, sizeof(*answers)));

	for (uint32_t i = 0; i < count; i++)
		answers[i].rc = HD_AR_PROBE_UNASKED;
	return answers;
}

static int run(struct asking *asking, const char *what, struct hd_error *err)
{
	progress_begin("asking the switches: %s", what);
	const int rc = hd_smp_queue_run(asking->queue);
	progress_end();
	return rc ? hd_error_set(err, rc, "the port is broken: %s", strerror(-rc)) : 0;
}

/* A switch without adaptive routing refuses the second attribute, which is worth knowing, too. */
static int ask_records(struct asking *asking, struct hd_error *err)
{
	struct ar_probe *probe = asking->probe;
	int rc;

	for (uint32_t sw = 0; sw < probe->count; sw++)
		ask(asking, sw, HD_AR_GENERAL_INFO, HD_AR_GENERAL_INFO_CAPABILITIES,
		    &probe->switches[sw].general);
	rc = run(asking, "capabilities", err);
	for (uint32_t sw = 0; !rc && sw < probe->count; sw++) {
		probe->answered += !probe->switches[sw].general.rc;
		if (!probe->switches[sw].general.rc)
			ask(asking, sw, HD_AR_INFO, 0, &probe->switches[sw].info);
	}
	return rc ? rc : run(asking, "adaptive routing", err);
}

static bool is_able(const struct hd_ar_probe_switch *sw, struct hd_ar_info *info)
{
	if (sw->info.rc)
		return false;
	hd_ar_info_decode(sw->info.data, info);
	return info->group_cap != 0;
}

static uint32_t group_blocks(const struct hd_ar_info *info)
{
	const uint32_t subs = info->sub_grps_supported ? info->sub_grps_supported : 1;
	const uint32_t blocks =
	    ((info->group_top + 1) * subs + HD_AR_GROUP_BLOCK - 1) / HD_AR_GROUP_BLOCK;

	return blocks < GROUP_BLOCKS_MAX ? blocks : GROUP_BLOCKS_MAX;
}

static void take_neighbours(void *cookie, const struct hd_smp_result *result)
{
	struct hd_ar_probe_switch *sw = cookie;

	sw->neighbours_rc = result->rc;
	if (!result->rc)
		memcpy(sw->neighbours, result->smp->gmp->data + HD_N2N_KEY, sizeof(sw->neighbours));
}

static void ask_tables(struct asking *asking, uint32_t index)
{
	struct hd_ar_probe_switch *sw = &asking->probe->switches[index];
	struct hd_ar_info info;

	if (!is_able(sw, &info))
		return;
	asking->probe->full++;
	sw->lid_count = asking->probe->fabric->lid_count;
	struct hd_ar_probe_answer *groups;
	sw->group_blocks = group_blocks(&info);
	sw->groups = groups = answers_new(sw->group_blocks);
	for (uint32_t block = 0; groups && block < sw->group_blocks; block++)
		ask(asking, index, HD_AR_GROUP_TABLE,
		    hd_ar_group_modifier(&hd_ar_quirks_default, 0, 0, block), &groups[block]);
	ask(asking, index, HD_AR_GROUP_TABLE, hd_ar_group_modifier(&hd_ar_quirks_default, 0, 1, 0),
	    &sw->second_table);
	struct hd_ar_capability_mask mask;
	struct hd_ar_probe_answer *entries;
	hd_ar_capability_mask_decode(sw->general.data, &mask);
	sw->old = !hd_ar_capability_mask_has(&mask, HD_AR_CAN_REV1);
	sw->entry_blocks = sw->lid_count / HD_AR_REV1_BLOCK + 1;
	sw->entries = entries = answers_new(sw->entry_blocks);
	for (uint32_t block = 0; block < sw->entry_blocks; block++)
		ask(asking, index, sw->old ? HD_AR_LFT_OLD : HD_AR_LFT_REV1,
		    hd_ar_lft_modifier(0, block), &entries[block]);
	const uint16_t top = (uint16_t)(sw->lid_count - 1);
	uint8_t *lft = need(malloc(hd_lft_size(top)));
	sw->lft = lft;
	memset(lft, HD_NO_PORT, hd_lft_size(top));
	asking->rows[index] =
	    (struct hd_lft_row){.destination = index, .top_lid = top, .ports = lft};
	need_enough(hd_lft_read(asking->queue, &asking->rows[index]));
	if (!info.pfrn_sup)
		return;
	ask(asking, index, HD_AR_PFRN_CONFIG, 0, &sw->pfrn);
	/* last: a switch that does not answer another class is given up */
	const struct hd_fabric *fabric = asking->probe->fabric;
	const struct hd_n2n_mad mad = {.attribute = HD_N2N_NEIGHBORS_INFO,
				       .lid = fabric->lid[fabric->port_base[index]]};
	struct hd_gmp *gmp = &asking->gmps[index];
	*gmp = (struct hd_gmp){.class = HD_N2N_CLASS, .lid = mad.lid};
	hd_n2n_mad_encode(&mad, gmp->data);
	const struct hd_smp smp = {
	    .method = HD_SMP_GET, .attribute = HD_N2N_NEIGHBORS_INFO, .gmp = gmp};
	need_enough(hd_smp_queue_submit(asking->queue, index, &smp, take_neighbours, sw));
}

/* Switches that are able, evenly among all. */
static int ask_some(struct asking *asking, struct hd_error *err)
{
	struct ar_probe *probe = asking->probe;
	struct hd_ar_info info;
	uint32_t seen = 0;

	for (uint32_t sw = 0; sw < probe->count; sw++)
		probe->able += is_able(&probe->switches[sw], &info);
	const uint32_t most = probe->most < probe->able ? probe->most : probe->able;
	for (uint32_t sw = 0; sw < probe->count; sw++) {
		if (!is_able(&probe->switches[sw], &info))
			continue;
		if ((uint64_t)seen * most / probe->able !=
		    (uint64_t)(seen + 1) * most / probe->able)
			ask_tables(asking, sw);
		seen++;
	}
	int rc = run(asking, "tables", err);
	/* A table of which a block is missing says nothing. */
	for (uint32_t i = 0; i < asking->probe->count; i++) {
		struct hd_ar_probe_switch *sw = &asking->probe->switches[i];
		if (!sw->lft || !asking->rows[i].rc)
			continue;
		free((void *)sw->lft);
		sw->lft = NULL;
	}
	return rc;
}

static int aim(struct asking *asking, const char *path, struct hd_error *err)
{
	const struct hd_fabric *fabric = asking->probe->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const struct hd_smp_address address = {.lid = fabric->lid[fabric->port_base[sw]]};
		if (!address.lid)
			return hd_error_set(err, -EINVAL,
					    "%s: switch 0x%016" PRIx64
					    " has no LID; use the output of ibnetdiscover",
					    path, fabric->node_guid[sw]);
		hd_smp_queue_aim(asking->queue, sw, &address);
	}
	return 0;
}

static int begin(struct asking *asking, struct hd_error *err)
{
	struct ar_probe *probe = asking->probe;
	const struct hd_umad_choice choice = {.device = probe->device,
					      .number = probe->port_number};
	struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	int rc = hd_umad_port_open(&choice, &asking->port, err);

	if (rc)
		return rc;
	limits.timeout_ms = (uint32_t)probe->timeout_ms;
	asking->queue = need(
	    hd_smp_queue_new(hd_umad_port_smp(asking->port), &limits, probe->fabric->switch_count));
	asking->rows = need(calloc(probe->fabric->switch_count + 1u, sizeof(*asking->rows)));
	asking->gmps = need(calloc(probe->fabric->switch_count + 1u, sizeof(*asking->gmps)));
	probe->switches = need(calloc(probe->fabric->switch_count + 1u, sizeof(*probe->switches)));
	probe->count = probe->fabric->switch_count;
	for (uint32_t sw = 0; sw < probe->count; sw++) {
		struct hd_ar_probe_switch *one = &probe->switches[sw];
		one->sw = sw;
		one->general.rc = one->info.rc = one->pfrn.rc = one->second_table.rc =
		    HD_AR_PROBE_UNASKED;
		one->neighbours_rc = HD_AR_PROBE_UNASKED;
	}
	return 0;
}

int ar_probe_read(struct ar_probe *probe, const char *path, struct hd_error *err)
{
	struct asking asking = {.probe = probe};
	int rc = begin(&asking, err);

	if (!rc)
		rc = aim(&asking, path, err);
	if (!rc)
		rc = ask_records(&asking, err);
	if (!rc)
		rc = ask_some(&asking, err);
	hd_smp_queue_free(asking.queue);
	hd_umad_port_close(asking.port);
	free(asking.rows);
	free(asking.gmps);
	return rc;
}
#else
int ar_probe_read(struct ar_probe *probe, const char *path, struct hd_error *err)
{
	(void)probe;
	(void)path;
	return hd_error_set(err, -ENOTSUP,
			    "this heddle was built without libibumad, so it cannot ask switches");
}
#endif
