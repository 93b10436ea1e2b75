/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cables of generated fabrics that are plugged in wrongly, and what a comparison with the plan says.
 *
 *	miscablings [COUNT [FIRST]]
 *
 * One to ten mistakes at once: cables pulled, plugged in besides, moved, or two exchanged. Each trial:
 *
 * - by GUID: the planned cables that are listed are those that the live fabric lacks, each once, and the live cables
 *   that are listed are those that the plan lacks, each once; no more mends than mistakes; no node is listed;
 * - by name: the same list;
 * - by shape, on a copy with other GUIDs, names, order of nodes and port numbers: no more mends than mistakes, and
 *   doing what the list says gives a fabric whose cables are those of the plan under the mapping, which a slow count
 *   of each pair of nodes confirms. A random graph, and a plan that is damaged itself, are hard: there the search may
 *   end with more mends, but in no more than a third of the trials.
 *
 * Every third copy of the others has lost 2% of its cables and a switch besides, which count as mistakes. By GUID, the
 * lost switch is a node without cables there, so that each of its cables is listed.
 *
 * Prints what fails, and a summary. Exit status 1 if something fails.
 */
#include "generated.h"
#include "miscabled.h"

#include <heddle/base/random.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MISTAKES_MOST 10u
#define HARD_LEAST 60u /* trials of hard kinds from which on a share says something */
#define DAMAGED 3u /* every third copy has lost cables and a switch besides */

struct kind {
	const char *generator, *settings;
	double missing; /* percent of the plan's cables between switches */
	bool hard; /* the search by shape may end with more mends than mistakes */
};

static const struct kind kinds[] = {
    {"xgft", "children=12,12 parents=1,6", 0, false},
    {"xgft", "children=6,6,6 parents=1,6,6", 0, false},
    {"xgft", "children=4,4,4,4 parents=1,4,4,4", 0, false},
    {"xgft", "children=8,6,4 parents=1,4,6", 0, false},
    {"xgft", "children=18,12 parents=1,3 parallel=1,3", 0, false},
    {"xgft", "children=8,8,6 parents=1,8,4 parallel=1,1,2", 0, false},
    {"kary-ntree", "k=5 n=3", 0, false},
    {"rlft", "radix=24 levels=2", 0, false},
    {"rlft", "radix=12 levels=3 hosts=216", 0, false},
    {"xgft", "children=9,9,9 parents=1,9,9", 0, false},
    {"xgft", "children=6,6,6 parents=1,6,6", 5, true},
    {"directors", "leaves=16 hosts=8 directors=2 uplinks=4 line-chips=8 outside=8 spine-chips=4", 0,
     false},
    {"dragonfly-plus", "islands=5 leaves=6 spines=6 hosts=6 global-links=4", 0, false},
    {"torus", "dims=6,6,6 hosts=4", 0, false},
    {"jellyfish", "switches=60 degree=8 hosts=8", 0, true},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct trial {
	uint64_t number;
	const struct kind *kind;
	unsigned mistakes, pulled, lost;
	const struct hd_fabric *plan;
};

static unsigned made(const struct trial *trial)
{
	return trial->mistakes + trial->pulled + trial->lost;
}

struct tally {
	unsigned trials, mistakes, faults;
	unsigned hard, worse; /* trials of hard kinds, and those with more mends than mistakes */
	uint64_t mends[3]; /* by GUID, by name, by shape */
};

static void complain(const struct trial *trial, struct tally *tally, const char *matching,
		     const char *what)
{
	printf("%" PRIu64 " (%s %s, %u mistakes) %s: %s\n", trial->number, trial->kind->generator,
	       trial->kind->settings, made(trial), matching, what);
	tally->faults++;
}

/* ---- by GUID ---- */

/* Whether the cable at a port of `a` is in `b` between the same ports of nodes with the same GUIDs. */
static bool is_in(const struct hd_fabric *a, uint32_t port, const struct hd_fabric *b)
{
	uint32_t ends[2] = {port, a->peer[port]}, there[2];

	for (unsigned i = 0; i < 2; i++) {
		uint32_t node = hd_fabric_find_node(b, a->node_guid[a->port_node[ends[i]]]);
		uint32_t number = hd_port_number(a, ends[i]);
		if (number > hd_node_ports(b, node))
			return false;
		there[i] = hd_port_index(b, node, number);
	}
	return b->peer[there[0]] == there[1];
}

static uint32_t lower_end(const struct hd_fabric *fabric, uint32_t port)
{
	return fabric->peer[port] < port ? fabric->peer[port] : port;
}

/* Whether the listed cables of `a` are those that `b` lacks, each once. */
static bool lists_all(const struct hd_comparison *comparison, bool found, const struct hd_fabric *a,
		      const struct hd_fabric *b)
{
	uint8_t *listed = calloc(a->port_count, 1);
	bool right = true;

	for (uint32_t i = 0; i < comparison->count; i++) {
		const struct hd_fabric_difference *one = &comparison->differences[i];
		const uint32_t *ports = found ? one->found : one->expected;
		if (one->kind < HD_DIFFERENCE_CABLE_MISSING ||
		    one->kind > HD_DIFFERENCE_CABLES_EXCHANGED)
			continue;
		for (uint32_t k = 0; k < (found ? one->found_count : one->expected_count); k++)
			listed[lower_end(a, ports[k])]++;
	}
	for (uint32_t port = 0; port < a->port_count; port++)
		if (a->peer[port] != HD_NONE && port < a->peer[port])
			right &= listed[port] == !is_in(a, port, b);
	free(listed);
	return right;
}

static void judge_keys(const struct trial *trial, const struct hd_fabric *live,
		       const struct hd_comparison *comparison, const char *matching,
		       struct tally *tally)
{
	for (uint32_t i = 0; i < comparison->count; i++)
		if (comparison->differences[i].kind < HD_DIFFERENCE_CABLE_MISSING ||
		    comparison->differences[i].kind == HD_DIFFERENCE_RATE) {
			complain(trial, tally, matching, "a node or a rate is listed");
			return;
		}
	if (!lists_all(comparison, false, trial->plan, live))
		complain(trial, tally, matching,
			 "the planned cables listed are not those that are missing");
	if (!lists_all(comparison, true, live, trial->plan))
		complain(trial, tally, matching,
			 "the live cables listed are not those that the plan lacks");
	if (!trial->lost && comparison->mends > made(trial))
		complain(trial, tally, matching, "more mends than mistakes");
}

static int try_keys(const struct trial *trial, struct tally *tally, struct hd_error *err)
{
	static const char *const names[] = {"by GUID", "by name"};
	struct miscabled_request request = {.plan = trial->plan,
					    .mistakes = trial->mistakes,
					    .pulled = trial->pulled,
					    .lost = trial->lost,
					    .seed = trial->number};
	struct hd_fabric *live = NULL;
	int rc = miscabled_make(&request, &live, NULL, err);

	for (unsigned by_name = 0; !rc && by_name < 2; by_name++) {
		struct hd_comparison comparison = {0};
		struct hd_compare_request compare = {.expected = trial->plan,
						     .live = live,
						     .match =
							 by_name ? HD_MATCH_NAME : HD_MATCH_GUID,
						     .rates = true};
		rc = hd_fabric_compare(&compare, &comparison, err);
		if (!rc)
			judge_keys(trial, live, &comparison, names[by_name], tally);
		tally->mends[by_name] += comparison.mends;
		hd_comparison_release(&comparison);
	}
	hd_fabric_free(live);
	return rc;
}

/* ---- by shape ---- */

static void judge_mends(const struct trial *trial, const struct hd_comparison *comparison,
			struct tally *tally)
{
	char text[64];
	bool worse = comparison->mends > made(trial);

	tally->hard += trial->kind->hard;
	tally->worse += trial->kind->hard && worse;
	if (!worse || trial->kind->hard)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " mends for %u mistakes", comparison->mends,
		 made(trial));
	complain(trial, tally, "by shape", text);
}

/* A lost switch has no live node, to which its cables could be mended. */
static void judge_shape(const struct trial *trial, const struct hd_fabric *live,
			const struct hd_comparison *comparison, struct tally *tally)
{
	struct hd_fabric *mended = NULL;
	struct hd_error err = {""};

	judge_mends(trial, comparison, tally);
	if (trial->lost)
		return;
	if (miscabled_mend(comparison, trial->plan, live, &mended, &err))
		complain(trial, tally, "by shape", err.text);
	else if (!miscabled_same_shape(trial->plan, mended, comparison->live_of))
		complain(trial, tally, "by shape", "the mended fabric is not of the plan's shape");
	hd_fabric_free(mended);
}

static int try_shape(const struct trial *trial, struct tally *tally, struct hd_error *err)
{
	struct miscabled_request request = {.plan = trial->plan,
					    .mistakes = trial->mistakes,
					    .pulled = trial->pulled,
					    .lost = trial->lost,
					    .seed = trial->number,
					    .foreign = true};
	struct hd_fabric *live = NULL;
	struct hd_comparison comparison = {0};
	int rc = miscabled_make(&request, &live, NULL, err);
	struct hd_compare_request compare = {
	    .expected = trial->plan, .live = live, .match = HD_MATCH_AUTO};

	if (!rc)
		rc = hd_fabric_compare(&compare, &comparison, err);
	if (!rc)
		judge_shape(trial, live, &comparison, tally);
	tally->mends[2] += comparison.mends;
	hd_comparison_release(&comparison);
	hd_fabric_free(live);
	return rc;
}

static int run(uint64_t number, struct tally *tally, struct hd_error *err)
{
	struct trial trial = {.number = number, .kind = &kinds[number % KINDS]};
	struct hd_fabric *whole = NULL, *plan = NULL;
	uint64_t random = number;
	int rc = generated_fabric(trial.kind->generator, trial.kind->settings, &whole, err);

	trial.mistakes = 1 + (unsigned)hd_random_below(&random, MISTAKES_MOST);
	if (!rc)
		rc = hd_fabric_remove_links(whole, trial.kind->missing, number, &plan, err);
	trial.plan = plan;
	if (!rc && !trial.kind->hard && number / KINDS % DAMAGED == DAMAGED - 1) {
		trial.pulled = plan->isl_count / 2 / 50;
		trial.lost = 1;
	}
	if (!rc)
		rc = try_keys(&trial, tally, err);
	if (!rc)
		rc = try_shape(&trial, tally, err);
	tally->trials++;
	tally->mistakes += made(&trial);
	hd_fabric_free(whole);
	hd_fabric_free(plan);
	return rc;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	struct tally tally = {0};
	struct hd_error err = {""};

	for (uint64_t i = first; i < first + count; i++)
		if (run(i, &tally, &err)) {
			printf("%" PRIu64 ": %s\n", i, err.text);
			return 1;
		}
	printf("%u trials, %u mistakes: %" PRIu64 " mends by GUID, %" PRIu64 " by name, %" PRIu64
	       " by shape; %u of %u hard ones with more mends than mistakes; %u faults\n",
	       tally.trials, tally.mistakes, tally.mends[0], tally.mends[1], tally.mends[2],
	       tally.worse, tally.hard, tally.faults);
	return tally.faults || (tally.hard >= HARD_LEAST && 3 * tally.worse > tally.hard);
}
