/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Column by column, and in each loss by loss. Only switches from which packets arrive before the loss
 * are looked at: all that they may choose lies among such switches. First those that tell their
 * neighbours are found, from the dead ports on; then those whose packets may be lost, from those that
 * may choose a dead port, or have no port left. Both spread against the packets, so the cost follows the
 * switches that are hit.
 */
#include "column.h"

#include <errno.h>
#include <string.h>

/* What a switch can do, and has in force. */
struct able {
	const uint8_t *most; /* [switch_count] enum hd_ar_recovery */
	bool silent_statics;
};

/* Marks that are taken back after each loss. */
struct marks {
	uint32_t *dead, *masked; /* [switch_count] ports of the entry */
	bool *told; /* [switch_count] it tells its neighbours */
	bool *lost; /* [switch_count] its packets may be lost */
	bool *listed; /* [switch_count] */
	bool *cut; /* [isl_count] the directed link is dead */
	uint32_t *list,
	    count; /* [switch_count] switches with any mark, at first those with dead ports */
	uint32_t *queue, end; /* [switch_count] */
	/* [switch_count] sources that lose packets if this switch alone does; HD_NONE: not known */
	uint32_t *alone;
};

struct worker {
	struct hd_arena arena;
	struct column column;
	struct marks marks;
	struct hd_ar_bridged *missing; /* [losses] pairs that are not delivered any more */
	uint64_t pairs;
	uint32_t circle, lid; /* a switch to which packets come back; lid 0: none */
};

struct bridging {
	struct columns columns;
	struct able able;
	const struct hd_ar_losses *losses;
	struct worker *workers;
	unsigned worker_count;
};

/* A loss in one column, at one level. */
struct looking {
	const struct able *able;
	const struct column *column;
	struct marks *marks;
	uint8_t level;
};

static uint8_t level_of(const struct looking *looking, uint32_t sw)
{
	const uint8_t most = looking->able->most[sw];

	return most < looking->level ? most : looking->level;
}

/* Whether it tells, and leaves out ports that lead to those who do. */
static bool takes_part(const struct looking *looking, uint32_t sw)
{
	const struct hd_ar_switch *plan = looking->column->all->entries[sw].plan[0];

	return level_of(looking, sw) == HD_AR_RECOVERY_NOTICES &&
	       !(looking->able->silent_statics &&
		 plan->lid_group[0][looking->column->lid] == HD_AR_NO_GROUP);
}

static void list_switch(struct marks *marks, uint32_t sw)
{
	if (marks->listed[sw])
		return;
	marks->listed[sw] = true;
	marks->list[marks->count++] = sw;
}

/* ---- notices ---- */

static void tell_if_empty(const struct looking *looking, uint32_t sw)
{
	struct marks *marks = looking->marks;

	if (marks->told[sw] || marks->dead[sw] + marks->masked[sw] < looking->column->ports[sw])
		return;
	marks->told[sw] = true;
	marks->queue[marks->end++] = sw;
}

/* The neighbours of a switch that tells leave out their ports to it. */
static void take_notice(const struct looking *looking, uint32_t sw)
{
	const struct column *column = looking->column;
	struct marks *marks = looking->marks;

	for (uint32_t i = column->back_first[sw]; i < column->back_end[sw]; i++) {
		const struct column_back back = column->back[i];
		if (marks->cut[back.link] || !column->good[back.from] ||
		    !takes_part(looking, back.from))
			continue;
		list_switch(marks, back.from);
		marks->masked[back.from]++;
		tell_if_empty(looking, back.from);
	}
}

static void spread_notices(const struct looking *looking)
{
	struct marks *marks = looking->marks;
	const uint32_t hit = marks->count;

	marks->end = 0;
	for (uint32_t i = 0; i < hit; i++)
		if (takes_part(looking, marks->list[i]))
			tell_if_empty(looking, marks->list[i]);
	for (uint32_t first = 0; first < marks->end; first++)
		take_notice(looking, marks->queue[first]);
}

/* ---- packets that are lost ---- */

static void lose(struct marks *marks, uint32_t sw)
{
	if (marks->lost[sw])
		return;
	marks->lost[sw] = true;
	list_switch(marks, sw);
	marks->queue[marks->end++] = sw;
}

/* Those that send to a switch whose packets are lost, unless they leave it out. */
static void lose_before(const struct looking *looking, uint32_t sw)
{
	const struct column *column = looking->column;
	struct marks *marks = looking->marks;

	for (uint32_t i = column->back_first[sw]; i < column->back_end[sw]; i++) {
		const struct column_back back = column->back[i];
		if (!marks->cut[back.link] && column->good[back.from] &&
		    !(marks->told[sw] && takes_part(looking, back.from)))
			lose(marks, back.from);
	}
}

static bool loses_at_once(const struct looking *looking, uint32_t sw)
{
	const struct marks *marks = looking->marks;

	if (marks->dead[sw] && level_of(looking, sw) == HD_AR_RECOVERY_OFF)
		return true;
	return marks->dead[sw] + marks->masked[sw] >= looking->column->ports[sw];
}

/* ---- one loss ---- */

static void cut(struct worker *worker, uint32_t link, bool dead)
{
	const uint32_t from = hd_isl_from(worker->column.all->fabric, link);

	if (!column_has(&worker->column, from, link) || !worker->column.good[from])
		return;
	worker->marks.cut[link] = dead;
	worker->marks.dead[from] += dead ? 1u : -1u;
	list_switch(&worker->marks, from);
}

/* Cuts the cables, or mends them. */
static void cut_all(struct worker *worker, const struct hd_ar_losses *losses, uint32_t loss,
		    bool dead)
{
	const uint32_t *reverse = worker->column.all->fabric->isl_reverse;

	for (uint32_t i = losses->first[loss]; i < losses->first[loss + 1]; i++) {
		cut(worker, losses->links[i], dead);
		cut(worker, reverse[losses->links[i]], dead);
	}
}

static uint32_t sources_lost(const struct looking *looking)
{
	if (looking->level == HD_AR_RECOVERY_NOTICES)
		spread_notices(looking);
	struct marks *marks = looking->marks;
	const uint32_t hit = marks->count;
	marks->end = 0;
	for (uint32_t i = 0; i < hit; i++)
		if (loses_at_once(looking, marks->list[i]))
			lose(marks, marks->list[i]);
	for (uint32_t first = 0; first < marks->end; first++)
		lose_before(looking, marks->queue[first]);
	/* Source switches among those whose packets may be lost. Takes the marks back, but for
	 * dead ports. */
	const struct column *column = looking->column;
	uint32_t lost = 0;
	for (uint32_t i = 0; i < marks->count; i++) {
		const uint32_t sw = marks->list[i];
		lost +=
		    marks->lost[sw] && sw != column->to && hd_has_adapters(column->all->fabric, sw);
		marks->lost[sw] = marks->told[sw] = false;
		marks->masked[sw] = 0;
	}
	return lost;
}

/* The same where one switch has dead ports, and nobody tells anybody: all from which packets come to it. */
static uint32_t sources_lost_alone(const struct looking *looking, uint32_t sw)
{
	uint32_t *alone = &looking->marks->alone[sw];

	if (!loses_at_once(looking, sw))
		return 0;
	if (*alone == HD_NONE)
		*alone = sources_lost(looking);
	return *alone;
}

static void try_loss(const struct bridging *bridging, struct worker *worker, uint32_t loss,
		     uint32_t weight)
{
	struct marks *marks = &worker->marks;

	cut_all(worker, bridging->losses, loss, true);
	if (!marks->count)
		return;
	const bool one = marks->count == 1;
	/* the level at which the fewest switches are hit is the first */
	for (uint8_t level = HD_AR_RECOVERY_LEVELS; level-- > 0;) {
		const struct looking looking = {&bridging->able, &worker->column, marks, level};
		const uint32_t lost = one && level < HD_AR_RECOVERY_NOTICES
					  ? sources_lost_alone(&looking, marks->list[0])
					  : sources_lost(&looking);
		worker->missing[loss].delivered[level] += (uint64_t)weight * lost;
	}
	cut_all(worker, bridging->losses, loss, false);
	while (marks->count)
		marks->listed[marks->list[--marks->count]] = false;
}

static uint32_t count_sources(const struct column *column)
{
	const struct hd_fabric *fabric = column->all->fabric;
	uint32_t sources = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		sources += sw != column->to && column->good[sw] && hd_has_adapters(fabric, sw);
	return sources;
}

static void try_columns(void *context, uint32_t begin, uint32_t end, unsigned index)
{
	const struct bridging *bridging = context;
	struct worker *worker = &bridging->workers[index];

	for (uint32_t i = begin; i < end; i++) {
		const uint32_t weight = bridging->columns.weight[i];
		const uint32_t circle = weight ? column_load(&worker->column, i) : HD_NONE;
		if (circle != HD_NONE) {
			worker->circle = circle;
			worker->lid = worker->column.lid;
		}
		if (!weight || worker->lid)
			continue;
		memset(worker->marks.alone, 0xFF,
		       bridging->columns.fabric->switch_count * sizeof(*worker->marks.alone));
		worker->pairs += (uint64_t)weight * count_sources(&worker->column);
		for (uint32_t loss = 0; loss < bridging->losses->count; loss++)
			try_loss(bridging, worker, loss, weight);
	}
}

/* ---- all of them ---- */

static int init_workers(struct bridging *bridging, unsigned threads)
{
	struct hd_arena *arena = &bridging->columns.arena;

	bridging->worker_count = hd_parallel_workers(threads);
	bridging->workers =
	    hd_arena_alloc(arena, bridging->worker_count, sizeof(*bridging->workers));
	if (!bridging->workers)
		return -ENOMEM;
	for (unsigned i = 0; i < bridging->worker_count; i++) {
		struct worker *worker = &bridging->workers[i];
		worker->missing =
		    hd_arena_alloc(arena, bridging->losses->count, sizeof(*worker->missing));
		if (!worker->missing || column_init(&worker->column, &bridging->columns, arena))
			return -ENOMEM;
		struct marks *marks = &worker->marks;
		const struct hd_fabric *fabric = bridging->columns.fabric;
		const uint32_t switches = fabric->switch_count;
		marks->dead = hd_arena_alloc(arena, switches, sizeof(*marks->dead));
		marks->masked = hd_arena_alloc(arena, switches, sizeof(*marks->masked));
		marks->told = hd_arena_alloc(arena, switches, sizeof(*marks->told));
		marks->lost = hd_arena_alloc(arena, switches, sizeof(*marks->lost));
		marks->listed = hd_arena_alloc(arena, switches, sizeof(*marks->listed));
		marks->cut = hd_arena_alloc(arena, fabric->isl_count, sizeof(*marks->cut));
		marks->list = hd_arena_alloc(arena, switches, sizeof(*marks->list));
		marks->queue = hd_arena_alloc(arena, switches, sizeof(*marks->queue));
		marks->alone = hd_arena_alloc(arena, switches, sizeof(*marks->alone));
		if (hd_arena_check(arena))
			return -ENOMEM;
	}
	return 0;
}

/* What each switch can do at most. */
static int init_able(struct bridging *bridging, const struct hd_ar_recovery_request *request)
{
	const uint32_t switches = request->fabric->switch_count;
	uint8_t *most = hd_arena_alloc(&bridging->columns.arena, switches, sizeof(*most));

	if (!most)
		return -ENOMEM;
	for (uint32_t sw = 0; sw < switches; sw++) {
		const struct hd_ar_switch *plan = bridging->columns.entries[sw].plan[0];
		if (plan && plan->form != HD_AR_FORM_NONE)
			most[sw] = request->able ? request->able[sw] : HD_AR_RECOVERY_NOTICES;
	}
	bridging->able = (struct able){most, request->silent_statics};
	return 0;
}

static int add_up(const struct bridging *bridging, struct hd_ar_bridged *bridged, uint64_t *pairs,
		  struct hd_error *err)
{
	*pairs = 0;
	for (unsigned i = 0; i < bridging->worker_count; i++) {
		const struct worker *worker = &bridging->workers[i];
		if (worker->lid)
			return columns_refuse(&bridging->columns, worker->circle, worker->lid, err);
		*pairs += worker->pairs;
	}
	for (uint32_t loss = 0; loss < bridging->losses->count; loss++)
		for (unsigned level = 0; level < HD_AR_RECOVERY_LEVELS; level++) {
			uint64_t left = *pairs;
			for (unsigned i = 0; i < bridging->worker_count; i++)
				left -= bridging->workers[i].missing[loss].delivered[level];
			bridged[loss].delivered[level] = left;
		}
	return 0;
}

int hd_ar_recovery_bridge(const struct hd_ar_recovery_request *request,
			  const struct hd_ar_losses *losses, struct hd_ar_bridged *bridged,
			  uint64_t *pairs, struct hd_error *err)
{
	struct bridging bridging = {.losses = losses};

	if (request->plan->table_count > 1)
		return hd_error_set(err, -ENOTSUP,
				    "a plan with private tables (DFP): its ports depend on where "
				    "a packet comes from");
	int rc = columns_init(&bridging.columns, request, err);
	if (!rc) {
		rc = init_able(&bridging, request);
		if (!rc)
			rc = init_workers(&bridging, request->threads);
		if (!rc)
			rc = hd_parallel_for_while(request->threads, bridging.columns.count, 1,
						   try_columns, &bridging, &request->go_on);
		rc = hd_go_on_explain(rc, err);
	}
	if (!rc)
		rc = add_up(&bridging, bridged, pairs, err);
	columns_release(&bridging.columns);
	return rc;
}
