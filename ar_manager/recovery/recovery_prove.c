/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Masks only take choices away. So what holds for packets that may take any port of any entry holds
 * whatever is masked, and also while masks come and go: nothing goes round, and no lane has a credit
 * loop. Then a packet takes less than switch_count hops, and ends at the adapter or is dropped.
 */
#include "column.h"

#include <errno.h>
#include <heddle/ar_manager/fast_recovery.h>
#include <heddle/base/random.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- losses ---- */

/* Cables by their lower link. Returns how many they are. */
static uint32_t list_cables(const struct hd_fabric *fabric, uint32_t *cables)
{
	uint32_t count = 0;

	for (uint32_t link = 0; link < fabric->isl_count; link++)
		if (link < fabric->isl_reverse[link])
			cables[count++] = link;
	return count;
}

static int recovery_prove_begin(struct hd_arena *arena, size_t count, size_t links,
				uint32_t **first, uint32_t **list)
{
	*first = hd_arena_alloc(arena, count + 1, sizeof(**first));
	*list = hd_arena_alloc(arena, links, sizeof(**list));
	return hd_arena_check(arena);
}

int hd_ar_losses_single(const struct hd_fabric *fabric, struct hd_arena *arena,
			struct hd_ar_losses *out)
{
	uint32_t *first, *links;

	if (recovery_prove_begin(arena, fabric->isl_count, fabric->isl_count, &first, &links))
		return -ENOMEM;
	const uint32_t count = list_cables(fabric, links);
	for (uint32_t i = 0; i <= count; i++)
		first[i] = i;
	*out = (struct hd_ar_losses){count, first, links};
	return 0;
}

int hd_ar_losses_sample(const struct hd_fabric *fabric, uint32_t count, uint32_t cables,
			uint64_t seed, struct hd_arena *arena, struct hd_ar_losses *out)
{
	uint32_t *first, *links, *all;
	uint64_t random = seed;

	all = hd_arena_alloc(arena, fabric->isl_count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	const uint32_t there = list_cables(fabric, all), each = cables < there ? cables : there;
	if (recovery_prove_begin(arena, count, (size_t)count * each, &first, &links))
		return -ENOMEM;
	for (uint32_t loss = 0; loss < count; loss++) {
		uint32_t *own = links + (size_t)loss * each;
		first[loss] = loss * each;
		for (uint32_t i = 0; i < each; i++) {
			const uint32_t at = i + (uint32_t)hd_random_below(&random, there - i);
			own[i] = all[at];
			all[at] = all[i];
			all[i] = own[i];
		}
	}
	first[count] = count * each;
	*out = (struct hd_ar_losses){count, first, links};
	return 0;
}

/* ---- recovery prove ---- */

const char *hd_ar_recovery_name(enum hd_ar_recovery level)
{
	static const char *const names[] = {"off", "local", "notices"};

	return names[level];
}

struct circle {
	uint32_t sw, lid; /* lid 0: none */
};

struct walking {
	const struct columns *columns;
	struct column workers[HD_THREADS_MAX];
	struct circle found[HD_THREADS_MAX]; /* the one of the lowest LID */
};

static void recovery_prove_walk(void *context, uint32_t begin, uint32_t end, unsigned index)
{
	struct walking *walking = context;
	struct column *column = &walking->workers[index];
	struct circle *found = &walking->found[index];

	for (uint32_t i = begin; i < end; i++) {
		const uint32_t lid = walking->columns->lid[i];
		if (found->lid && found->lid < lid)
			continue;
		const uint32_t sw = column_load(column, i);
		if (sw != HD_NONE)
			*found = (struct circle){sw, lid};
	}
}

static int refuse_circle(const struct walking *walking, unsigned workers, struct hd_error *err)
{
	struct circle first = {0, 0};

	for (unsigned i = 0; i < workers; i++)
		if (walking->found[i].lid && (!first.lid || walking->found[i].lid < first.lid))
			first = walking->found[i];
	return first.lid ? columns_refuse(walking->columns, first.sw, first.lid, err) : 0;
}

/* No packet comes to a switch twice. */
static int prove_paths(const struct hd_ar_recovery_request *request, const struct columns *columns,
		       struct hd_error *err)
{
	const unsigned workers = hd_parallel_workers(request->threads);
	struct hd_arena arena = {0};
	struct walking *walking = hd_arena_alloc(&arena, 1, sizeof(*walking));
	int rc = walking ? 0 : -ENOMEM;

	for (unsigned i = 0; !rc && i < workers; i++)
		rc = column_init(&walking->workers[i], columns, &arena);
	if (!rc) {
		walking->columns = columns;
		rc = hd_parallel_for_while(request->threads, columns->count, 4, recovery_prove_walk,
					   walking, &request->go_on);
	}
	rc = rc ? hd_go_on_explain(rc, err) : refuse_circle(walking, workers, err);
	hd_arena_release(&arena);
	return rc;
}

/* A LID whose packets may hold the first link of the loop while they wait for the second; 0: none is found. */
static uint32_t lid_of_loop(const struct columns *columns, const struct hd_ar_loop *loop)
{
	const struct hd_fabric *fabric = columns->fabric;
	const uint32_t from = hd_isl_from(fabric, loop->links[0]),
		       at = fabric->isl_to[loop->links[0]];
	uint64_t first[4], second[4];

	for (uint32_t i = 0; i < columns->count; i++) {
		next_hops_of_lid(&columns->next, from, columns->lid[i], first);
		next_hops_of_lid(&columns->next, at, columns->lid[i], second);
		if (link_sets_has(first, loop->links[0] - fabric->isl_base[from]) &&
		    link_sets_has(second, loop->links[1] - fabric->isl_base[at]))
			return columns->lid[i];
	}
	return 0;
}

/* No lane has a credit loop. */
static int prove_lanes(const struct hd_ar_recovery_request *request, const struct columns *columns,
		       struct hd_error *err)
{
	const struct hd_ar_proof_request asked = {.fabric = request->fabric,
						  .routes = request->routes,
						  .plan = request->plan,
						  .threads = request->threads,
						  .go_on = request->go_on};
	struct hd_ar_loop *loop = NULL;
	struct hd_error reason = {""};
	char label[HD_LABEL_SIZE];
	int rc = hd_ar_prove(&asked, NULL, &loop, &reason);

	if (rc == -ELOOP && columns && loop->length > 1) {
		const struct hd_fabric *fabric = request->fabric;
		hd_port_label(fabric, hd_port_index(fabric, fabric->isl_to[loop->links[0]], 0),
			      label, sizeof(label));
		hd_error_set(err, rc, "switch %s, LID %u: %s", label, lid_of_loop(columns, loop),
			     reason.text);
	} else if (rc) {
		hd_error_set(err, rc, "%s", reason.text);
	}
	hd_ar_loop_free(loop);
	return rc;
}

/* Each port of a group leads to a switch with an entry, or to the adapter. */
static int prove_ports(const struct hd_ar_recovery_request *request, struct hd_error *err)
{
	uint64_t wrong;

	return hd_ar_plan_check(request->plan, request->fabric, request->routes, &request->go_on,
				&wrong, err);
}

int hd_ar_recovery_prove(const struct hd_ar_recovery_request *request, bool proved,
			 struct hd_error *err)
{
	struct columns columns;
	int rc;

	if (request->plan->table_count > 1) {
		rc = prove_lanes(request, NULL, err);
		return rc ? rc : prove_ports(request, err);
	}
	rc = columns_init(&columns, request, err);
	if (!rc)
		rc = prove_ports(request, err);
	if (!rc)
		rc = prove_paths(request, &columns, err);
	if (!rc && !proved)
		rc = prove_lanes(request, &columns, err);
	columns_release(&columns);
	return rc;
}
