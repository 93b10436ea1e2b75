/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_recovery.h"
#include "json_value.h"
#include "need.h"
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>

/* Of all losses of a kind, at one level. All are shares. */
struct figures {
	double mean, least; /* of the pairs that are delivered */
	double
	    bridged; /* of the pairs that are not delivered without fast recovery, those that are with it */
	double whole; /* of the losses, those after which all pairs are delivered */
};

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 1;
}

static struct figures figures_of(const struct ar_recovery *recovery,
				 const struct ar_recovery_losses *set, unsigned level)
{
	struct figures figures = {0, 1, 0, 0};
	uint64_t missing = 0, bridged = 0, whole = 0;
	const uint32_t count = set->losses.count;
	double sum = 0;

	for (uint32_t loss = 0; loss < count; loss++) {
		const uint64_t *delivered = set->bridged[loss].delivered;
		const double part = share(delivered[level], recovery->pairs);
		sum += part;
		figures.least = part < figures.least ? part : figures.least;
		missing += recovery->pairs - delivered[HD_AR_RECOVERY_OFF];
		bridged += delivered[level] - delivered[HD_AR_RECOVERY_OFF];
		whole += delivered[level] == recovery->pairs;
	}
	figures.mean = count ? sum / count : 1;
	figures.bridged = share(bridged, missing);
	figures.whole = share(whole, count);
	return figures;
}

static int count_set(struct ar_recovery *recovery, struct ar_recovery_losses *set,
		     const struct hd_ar_recovery_request *request, struct hd_error *err)
{
	set->bridged = need_of(&recovery->arena, set->losses.count + 1u, sizeof(*set->bridged));
	return hd_ar_recovery_bridge(request, &set->losses, set->bridged, &recovery->pairs, err);
}

void ar_recovery_make(struct ar_recovery *recovery, const struct hd_ar_recovery_request *request)
{
	struct hd_error reason = {""};

	recovery->fabric = request->fabric;
	progress_begin("losing cables");
	int rc = hd_ar_recovery_prove(request, true, &reason);
	recovery->proved = !rc;
	if (!rc) {
		const struct hd_fabric *fabric = request->fabric;
		const uint32_t sampled = fabric->isl_count < 4 ? 0 : recovery->sampled;
		rc = 0;
		if (hd_ar_losses_single(fabric, &recovery->arena, &recovery->sets[0].losses) ||
		    hd_ar_losses_sample(fabric, sampled, 2, recovery->seed, &recovery->arena,
					&recovery->sets[1].losses))
			need(NULL);
		for (unsigned i = 0; !rc && i < 2; i++)
			rc = count_set(recovery, &recovery->sets[i], request, &reason);
	}
	recovery->counted = !rc;
	progress_end();
	snprintf(recovery->reason, sizeof(recovery->reason), "%s", reason.text);
	need_enough(rc);
}

void ar_recovery_release(struct ar_recovery *recovery)
{
	hd_arena_release(&recovery->arena);
}

static void print_set(const struct ar_recovery *recovery, const struct ar_recovery_losses *set)
{
	for (unsigned level = 0; level < HD_AR_RECOVERY_LEVELS; level++) {
		const struct figures figures = figures_of(recovery, set, level);
		printf("  %-12s  %9.4f%% %9.4f%% %9.2f%% %9.2f%%\n",
		       hd_ar_recovery_name((enum hd_ar_recovery)level), 100 * figures.mean,
		       100 * figures.least, 100 * figures.bridged, 100 * figures.whole);
	}
}

void ar_recovery_print(const struct ar_recovery *recovery)
{
	if (!recovery->proved) {
		printf("fast recovery   refused: %s\n", recovery->reason);
		return;
	}
	printf("fast recovery   may be enabled: no set of masked ports lets a packet go round\n");
	if (!recovery->counted) {
		printf("after a loss    not counted: %s\n", recovery->reason);
		return;
	}
	printf("after a loss    of %" PRIu64
	       " pairs of a switch and a LID, delivered before any manager acts:\n"
	       "                     mean      least    bridged      whole\n"
	       "one cable, each of %" PRIu32 "\n",
	       recovery->pairs, recovery->sets[0].losses.count);
	print_set(recovery, &recovery->sets[0]);
	if (!recovery->sets[1].losses.count)
		return;
	printf("two cables, %" PRIu32 " at random, seed %" PRIu64 "\n",
	       recovery->sets[1].losses.count, recovery->seed);
	print_set(recovery, &recovery->sets[1]);
}

static json_t *end_json(const struct hd_fabric *fabric, uint32_t link)
{
	const uint32_t sw = hd_isl_from(fabric, link);

	return json_pack("{s:o, s:o, s:I}", "name", json_value_text(fabric->node_name[sw]), "guid",
			 json_value_guid(fabric->node_guid[sw]), "port",
			 (json_int_t)fabric->isl_port[link]);
}

static json_t *loss_json(const struct ar_recovery *recovery, const struct ar_recovery_losses *set,
			 uint32_t loss)
{
	const struct hd_fabric *fabric = recovery->fabric;
	json_t *cables = json_array(), *row;

	for (uint32_t i = set->losses.first[loss]; i < set->losses.first[loss + 1]; i++) {
		const uint32_t link = set->losses.links[i];
		cables = json_value_append(
		    cables, json_pack("{s:o, s:o}", "from", end_json(fabric, link), "to",
				      end_json(fabric, fabric->isl_reverse[link])));
	}
	row = json_value_set(json_object(), "cables", cables);
	for (unsigned level = 0; level < HD_AR_RECOVERY_LEVELS; level++)
		row = json_value_set(row, hd_ar_recovery_name((enum hd_ar_recovery)level),
				     json_integer((json_int_t)set->bridged[loss].delivered[level]));
	return row;
}

static json_t *set_json(const struct ar_recovery *recovery, unsigned number)
{
	const struct ar_recovery_losses *set = &recovery->sets[number];
	json_t *json = json_pack("{s:I, s:I}", "cables", (json_int_t)number + 1, "count",
				 (json_int_t)set->losses.count);
	json_t *list = json_array();

	for (unsigned level = 0; level < HD_AR_RECOVERY_LEVELS; level++) {
		const struct figures figures = figures_of(recovery, set, level);
		json = json_value_set(json, hd_ar_recovery_name((enum hd_ar_recovery)level),
				      json_pack("{s:f, s:f, s:f, s:f}", "mean", figures.mean,
						"least", figures.least, "bridged", figures.bridged,
						"whole", figures.whole));
	}
	for (uint32_t loss = 0; loss < set->losses.count; loss++)
		list = json_value_append(list, loss_json(recovery, set, loss));
	return json_value_set(json, "list", list);
}

json_t *ar_recovery_json(const struct ar_recovery *recovery)
{
	json_t *losses = json_array();

	for (unsigned i = 0; recovery->counted && i < 2; i++)
		losses = json_value_append(losses, set_json(recovery, i));
	return json_pack("{s:b, s:o, s:I, s:o}", "proved", recovery->proved, "reason",
			 json_value_text(recovery->reason), "pairs", (json_int_t)recovery->pairs,
			 "losses", losses);
}
