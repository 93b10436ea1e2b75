/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A run draws its patterns in batches. The threads (and processes) share the patterns of a batch.
 * Each thread has its own tally, and all tallies are added up after each batch. The size of a batch
 * of a run that stops at a precision depends only on the pattern, so it stops at the same pattern
 * everywhere.
 */
#include "counting.h"
#include "pattern_internal.h"
#include "tally.h"

#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/parallel.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Turns a pattern's flows between ranks into flows between hosts, by a mapping. */

/* Each thread has one. */
struct pattern_drawing {
	const struct hd_pattern *pattern;
	const struct hd_ranks *ranks;
	enum hd_mapping mapping;
	uint64_t seed, index;
	struct hd_draw draw;
	const uint32_t *host; /* [ranks] host of each rank, in the present pattern */
	uint32_t *mapped; /* [ranks] where `host` points if the mapping is random */
};

/* 0 or -ENOMEM. All memory is from the arena. */
static int pattern_drawing_init(struct pattern_drawing *drawing, const struct hd_pattern *pattern,
				const struct hd_ranks *ranks, enum hd_mapping mapping,
				uint64_t seed, struct hd_arena *arena)
{
	*drawing = (struct pattern_drawing){.pattern = pattern,
					    .ranks = ranks,
					    .mapping = mapping,
					    .seed = seed,
					    .host = ranks->host};
	drawing->draw.order = hd_arena_alloc(arena, ranks->count, sizeof(uint32_t));
	drawing->mapped = hd_arena_alloc(arena, ranks->count, sizeof(uint32_t));
	return hd_arena_check(arena);
}

/* A pattern whose flows are random needs no random mapping. */
static void pattern_drawing_begin(struct pattern_drawing *drawing, uint64_t index)
{
	drawing->index = index;
	if (drawing->pattern->kind->random ||
	    !hd_pattern_varies(drawing->pattern, drawing->mapping))
		return;
	struct stream stream = stream_at(drawing->seed, index, STREAM_MAPPING);
	if (drawing->pattern->adapters > 1) {
		/* Machines change their places as a whole: rails stay rails. */
		const struct hd_pattern *pattern = drawing->pattern;
		const uint32_t *host = drawing->ranks->host;
		uint32_t adapters = pattern->adapters, *place = drawing->draw.order;

		stream_permutation(&stream, place, pattern->ranks);
		for (uint32_t machine = 0; machine < pattern->ranks; machine++)
			memcpy(drawing->mapped + (size_t)machine * adapters,
			       host + (size_t)place[machine] * adapters, adapters * sizeof(*host));
	} else {
		memcpy(drawing->mapped, drawing->ranks->host,
		       drawing->ranks->count * sizeof(uint32_t));
		stream_shuffle(&stream, drawing->mapped, drawing->ranks->count);
	}
	drawing->host = drawing->mapped;
}

/* Writes the round's flows as host indices; returns their number. */
static uint32_t pattern_drawing_round(struct pattern_drawing *drawing, uint32_t round,
				      struct hd_flow *flows)
{
	drawing->draw.stream = stream_at(drawing->seed, drawing->index, round);
	uint32_t count =
	    drawing->pattern->kind->round(drawing->pattern, round, &drawing->draw, flows);
	const uint32_t *host = drawing->host;
	if (drawing->pattern->adapters > 1 && !drawing->pattern->kind->by_adapter) {
		/* Puts a flow of every rail in the place of each flow between machines. */
		const struct hd_pattern *pattern = drawing->pattern;
		const uint32_t adapters = pattern->adapters;
		for (uint32_t i = count; i-- > 0;) {
			struct hd_flow flow = flows[i];
			for (uint32_t rail = 0; rail < adapters; rail++)
				flows[i * adapters + rail] =
				    (struct hd_flow){flow.source * adapters + rail,
						     flow.destination * adapters + rail};
		}
		count = count * adapters;
	}
	for (uint32_t i = 0; i < count; i++)
		flows[i] = (struct hd_flow){host[flows[i].source], host[flows[i].destination]};
	return count;
}

int hd_pattern_draw(const struct hd_pattern *pattern, const struct hd_ranks *ranks,
		    enum hd_mapping mapping, uint64_t seed, uint64_t index, uint32_t round,
		    struct hd_flow *flows, uint32_t *count, struct hd_error *err)
{
	struct hd_arena arena = {0};
	struct pattern_drawing drawing;
	int rc = pattern_drawing_init(&drawing, pattern, ranks, mapping, seed, &arena);

	if (!rc) {
		pattern_drawing_begin(&drawing, index);
		*count = pattern_drawing_round(&drawing, round, flows);
	}
	hd_arena_release(&arena);
	return rc ? hd_error_no_memory(err) : 0;
}

/* ---- the report ---- */

struct report {
	struct hd_congestion_report shown;
	struct hd_arena arena;
};

static uint64_t *copied(const uint64_t *from, size_t count, struct hd_arena *arena)
{
	uint64_t *copy = hd_arena_alloc(arena, count, sizeof(*copy));

	if (copy)
		memcpy(copy, from, count * sizeof(*copy));
	return copy;
}

static int copy_links(const struct tally *total, struct report *report, uint32_t parts)
{
	struct hd_congestion_report *shown = &report->shown;
	uint64_t *flows = copied(total->link_flows, total->link_count, &report->arena);
	uint64_t *worst = copied(total->link_least, total->link_count, &report->arena);

	shown->link_count = total->link_count;
	shown->link_flows = flows;
	shown->link_worst = worst;
	if (hd_arena_check(&report->arena))
		return -ENOMEM;
	for (uint32_t link = 0; link < total->link_count; link++) {
		flows[link] = (flows[link] + parts - 1) / parts;
		worst[link] = (~worst[link] + parts - 1) / parts;
	}
	return 0;
}

static int copy_arrays(const struct tally *total, struct report *report, uint32_t parts)
{
	struct hd_congestion_report *shown = &report->shown;

	uint32_t size = total->histogram_size;
	while (size > 1 && !total->histogram[size - 1])
		size--;
	shown->histogram_size = size;
	shown->histogram = copied(total->histogram, shown->histogram_size, &report->arena);
	shown->bins = copied(total->bins, HD_PATTERN_BINS + 1, &report->arena);
	return total->link_count ? copy_links(total, report, parts)
				 : hd_arena_check(&report->arena);
}

/* Turns a tally into a report. `reciprocal`: the histogram has all shares, because each is 1/pi.
 * The tally counts a link's flows in units of 1/parts. NULL: no memory. */
static struct hd_congestion_report *congestion_report_new(const struct tally *total,
							  bool reciprocal, uint32_t parts)
{
	const uint64_t *sums = total->sums;
	double measured = (double)sums[TALLY_MEASURED];
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->shown = (struct hd_congestion_report){
	    .patterns = sums[TALLY_PATTERNS],
	    .rounds = sums[TALLY_ROUNDS],
	    .routes = sums[TALLY_ROUTES],
	    .broken = sums[TALLY_BROKEN],
	    .mean = tally_mean(total, reciprocal),
	    .half_width = tally_half_width(total),
	    .bound =
		sums[TALLY_ROUTES] ? (double)sums[TALLY_BOUND] / (double)sums[TALLY_ROUTES] : 0,
	    .minimum = (double)total->minima[0] / (double)TALLY_ONE,
	    .deviation = tally_deviation(total),
	    .machine_routes = sums[TALLY_MACHINE_ROUTES],
	    .machine_mean = tally_machine_mean(total),
	    .machine_half_width = tally_machine_half_width(total),
	    .sum_max =
		tally_sum(total, TALLY_SUM_MAX_LOW) / (double)TALLY_CONGESTION_ONE / measured,
	    .sum_avg =
		tally_sum(total, TALLY_SUM_AVG_LOW) / (double)TALLY_CONGESTION_ONE / measured,
	};
	if (!copy_arrays(total, report, parts))
		return &report->shown;
	hd_congestion_report_free(&report->shown);
	return NULL;
}

void hd_congestion_report_free(struct hd_congestion_report *shown)
{
	struct report *report = (struct report *)shown;

	if (!report)
		return;
	hd_arena_release(&report->arena);
	free(report);
}

double hd_congestion_percentile(const struct hd_congestion_report *report, double percent)
{
	uint64_t count = 0, below = 0;
	uint32_t bin = 0;

	for (uint32_t i = 0; i <= HD_PATTERN_BINS; i++)
		count += report->bins[i];
	for (; bin < HD_PATTERN_BINS; bin++) {
		below += report->bins[bin];
		if ((double)below >= percent / 100 * (double)count && below)
			break;
	}
	double value = bin / (double)HD_PATTERN_BINS;
	return value < report->minimum ? report->minimum : value;
}

static bool hotter(const struct hd_congestion_report *report, uint32_t a, uint32_t b)
{
	uint64_t flows_a = report->link_flows[a], flows_b = report->link_flows[b];

	return flows_a > flows_b || (flows_a == flows_b && a < b);
}

uint32_t hd_congestion_hottest(const struct hd_congestion_report *report, uint32_t *links,
			       uint32_t count)
{
	uint32_t found = 0;

	for (uint32_t link = 0; count && link < report->link_count; link++) {
		if (!report->link_flows[link] ||
		    (found == count && !hotter(report, link, links[count - 1])))
			continue;
		uint32_t place = found < count ? found++ : count - 1;
		for (; place > 0 && hotter(report, link, links[place - 1]); place--)
			links[place] = links[place - 1];
		links[place] = link;
	}
	return found;
}

static uint32_t switch_of_isl(const struct hd_fabric *fabric, uint32_t link)
{
	uint32_t low = 0, high = fabric->switch_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		*(fabric->isl_base[middle] <= link ? &low : &high) = middle;
	}
	return low;
}

uint32_t hd_congestion_link_port(const struct hd_fabric *fabric, uint32_t link)
{
	if (link < fabric->isl_count)
		return hd_port_index(fabric, switch_of_isl(fabric, link), fabric->isl_port[link]);
	link -= fabric->isl_count;
	return link < fabric->host_count
		   ? fabric->host_port[link]
		   : fabric->peer[fabric->host_port[link - fabric->host_count]];
}

/* ---- routing a pattern ---- */

#define TABLE_BYTES ((size_t)1 << 30)
#define BATCH_FLOWS (1u << 22) /* about a tenth of a second */
#define BATCH_LEAST 16u
#define BATCH_MOST 8192u
#define SHARED_BATCHES 16 /* at most, of several processes */
#define GRAIN_MOST 16u /* patterns a thread takes at a time */

/* How often a thread takes patterns in a batch: often enough that all end at about the same
 * time. */
#define TURNS 8u

struct worker {
	struct pattern_drawing drawing;
	struct counting counting;
	struct adaptive adaptive;
	struct shares shares;
	struct tally tally;
};

struct run {
	const struct hd_congestion_request *request;
	struct paths paths;
	struct adaptive_links adaptive; /* with request->spread */
	uint32_t histogram_size, link_count;
	uint64_t *reciprocal; /* [histogram_size] TALLY_ONE / pi */
	uint32_t *rank; /* [host_count] of a host; NULL: machines have one adapter */
	struct worker *workers;
	unsigned worker_count;
	struct tally batch, total;
	uint64_t batch_begin; /* pattern number */
	bool partial; /* `progress` has ended it early */
	struct hd_arena arena;
};

/* ---- one round, one pattern ---- */

static void add_links(struct worker *worker)
{
	const struct counting *counting = &worker->counting;
	const struct hd_fabric *fabric = counting->paths->fabric;
	uint64_t *flows = worker->tally.link_flows, *least = worker->tally.link_least;
	uint32_t sources = fabric->isl_count, sinks = sources + fabric->host_count;
	uint32_t parts = counting->parts;

	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		flows[link] += counting->load[link];
		if (~(uint64_t)counting->load[link] < least[link])
			least[link] = ~(uint64_t)counting->load[link];
	}
	for (uint32_t i = 0; i < counting->routes; i++) {
		struct hd_flow flow = counting->flows[i];
		uint64_t sent = counting->single ? parts : counting->sent[flow.source];
		uint64_t received = counting->single ? parts : counting->received[flow.destination];
		flows[sources + flow.source] += parts;
		flows[sinks + flow.destination] += parts;
		if (~sent < least[sources + flow.source])
			least[sources + flow.source] = ~sent;
		if (~received < least[sinks + flow.destination])
			least[sinks + flow.destination] = ~received;
	}
}

/* Fill the histogram and return the sum of shares, 1/pi each. */
static uint64_t add_whole(const struct run *run, struct worker *worker)
{
	const struct counting *counting = &worker->counting;
	uint64_t share = 0;

	for (uint32_t i = 0; i < counting->routes; i++) {
		worker->tally.histogram[counting->congestion[i]]++;
		share += run->reciprocal[counting->congestion[i]];
	}
	return share;
}

static uint64_t add_divided(struct worker *worker)
{
	const struct counting *counting = &worker->counting;
	uint64_t share = 0, parts = counting->parts;

	for (uint32_t i = 0; i < counting->routes; i++) {
		uint64_t congestion = counting->congestion[i];
		worker->tally.histogram[(congestion + parts - 1) / parts]++;
		share += counting->lids == HD_LIDS_PARALLEL
			     ? counting_parallel_share(counting, i)
			     : (TALLY_ONE * parts + congestion / 2) / congestion;
	}
	return share;
}

static uint64_t share_of_route(const struct run *run, const struct worker *worker, uint32_t route)
{
	const struct counting *counting = &worker->counting;
	uint64_t congestion = counting->congestion[route], parts = counting->parts;

	if (shares_wanted(run->request))
		return (uint64_t)llround(worker->shares.share[route] * (double)TALLY_ONE);
	if (counting->lids == HD_LIDS_PARALLEL)
		return counting_parallel_share(counting, route);
	return (TALLY_ONE * parts + congestion / 2) / congestion;
}

/* True if two flows, one after the other, are of one transfer between machines: its rails ascend. */
static bool same_transfer(const struct run *run, const struct hd_flow *flows)
{
	const uint32_t *rank = run->rank, adapters = run->request->ranks->adapters;

	return rank[flows[1].source] > rank[flows[0].source] &&
	       rank[flows[1].source] / adapters == rank[flows[0].source] / adapters &&
	       rank[flows[1].destination] / adapters == rank[flows[0].destination] / adapters;
}

/* A transfer is as fast as its slowest rail. Its flows are next to each other. */
static void add_transfers(const struct run *run, const struct worker *worker,
			  struct tally_pattern *sum)
{
	const struct counting *counting = &worker->counting;

	for (uint32_t i = 0; i < counting->routes;) {
		uint64_t least = share_of_route(run, worker, i);
		for (i++; i < counting->routes && same_transfer(run, &counting->flows[i - 1]);
		     i++) {
			uint64_t share = share_of_route(run, worker, i);
			least = share < least ? share : least;
		}
		sum->machine_share += least;
		sum->machine_routes++;
	}
}

static void run_pattern(const struct run *run, struct worker *worker, uint64_t index)
{
	const struct hd_pattern *pattern = run->request->pattern;
	struct tally_pattern sum = {.rounds = pattern->rounds};

	pattern_drawing_begin(&worker->drawing, index);
	counting_begin(&worker->counting, index);
	for (uint32_t round = 0; round < pattern->rounds; round++) {
		if (!hd_go_on_ask(&run->request->go_on))
			return;
		struct stream lids = stream_at(run->request->seed, index, round | STREAM_LIDS);
		uint32_t count =
		    pattern_drawing_round(&worker->drawing, round, worker->counting.flows);
		if (worker->counting.adaptive)
			adaptive_run(&worker->counting, count);
		else
			counting_run(&worker->counting, count, &lids);
		const struct counting *counting = &worker->counting;
		uint64_t share, total = 0;
		uint32_t largest = 0;
		for (uint32_t i = 0; i < counting->routes; i++) {
			uint32_t congestion = counting->congestion[i];
			total += congestion;
			largest = congestion > largest ? congestion : largest;
		}
		share = counting->parts == 1 ? add_whole(run, worker) : add_divided(worker);
		if (shares_wanted(run->request))
			share = shares_sum(&worker->shares, counting);
		if (run->link_count)
			add_links(worker);
		if (run->rank)
			add_transfers(run, worker, &sum);
		sum.share += share;
		sum.routes += counting->routes;
		sum.broken += counting->broken;
		sum.bound += counting->adaptive ? counting->adaptive->bound : 0;
		sum.sum_max += largest * TALLY_CONGESTION_ONE / counting->parts;
		if (counting->routes)
			sum.sum_avg +=
			    total * TALLY_CONGESTION_ONE / counting->parts / counting->routes;
		counting_clear(&worker->counting);
	}
	uint64_t mean = tally_add_pattern(&worker->tally, &sum);
	if (run->request->means)
		run->request->means[index] = mean;
}

static void run_patterns(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct run *run = context;

	for (uint32_t i = begin; i < end; i++)
		run_pattern(run, &run->workers[worker], run->batch_begin + i);
}

/* ---- batches ---- */

static uint64_t batch_size(const struct hd_pattern *pattern)
{
	uint64_t flows = (uint64_t)pattern->rounds * pattern->round_max;
	uint64_t size = BATCH_FLOWS / (flows ? flows : 1);

	return size < BATCH_LEAST ? BATCH_LEAST : size > BATCH_MOST ? BATCH_MOST : size;
}

/* Processes wait for each other behind each batch, so they have few, unless one may be the last. */
static uint64_t shared_batch_size(const struct hd_congestion_request *request)
{
	uint64_t size = batch_size(request->pattern), few = request->patterns / SHARED_BATCHES;

	return request->parts > 1 && !(request->precision > 0) && few > size ? few : size;
}

static uint32_t grain_of(uint32_t count, unsigned workers)
{
	uint32_t grain = count / (TURNS * workers);

	return grain < 1 ? 1 : grain > GRAIN_MOST ? GRAIN_MOST : grain;
}

/* Adds up the sums of all processes. Also takes the minima and, if wanted, collects the means. */
static int combine(struct run *run, uint64_t first, uint64_t count)
{
	const struct hd_congestion_request *request = run->request;
	uint64_t begin = count * request->part / request->parts;
	uint64_t end = count * (request->part + (uint64_t)1) / request->parts;
	int rc = request->combine(request->combine_context, run->batch.sums, run->batch.sum_count,
				  run->batch.minima, run->batch.minimum_count);

	if (rc || !request->means)
		return rc;
	uint64_t *means = request->means + first;
	memset(means, 0, begin * sizeof(*means));
	memset(means + end, 0, (count - end) * sizeof(*means));
	return request->combine(request->combine_context, means, count, NULL, 0);
}

/*
 * Tells all processes whether a step failed in any of them. If a process gave up alone, the others
 * would wait for it in combine().
 */
static int agree(const struct hd_congestion_request *request, int rc, struct hd_error *err)
{
	uint64_t failed = rc != 0;

	if (request->parts <= 1)
		return rc;
	int combined = request->combine(request->combine_context, &failed, 1, NULL, 0);
	if (rc)
		return rc;
	if (combined)
		return hd_error_set(err, combined, "the processes cannot exchange their status: %s",
				    strerror(-combined));
	return failed
		   ? hd_error_set(err, -ENOMEM,
				  "%" PRIu64 " of the other processes failed (%" PRIu32 " in all), "
				  "most likely because they ran out of memory",
				  failed, request->parts)
		   : 0;
}

/* Adds a batch to the total, if it is wanted to its end: else -ECANCELED. Errors: those of combine(). */
static int run_batch(struct run *run, uint64_t first, uint64_t count)
{
	tally_clear(&run->batch);
	/* This process's slice of `count` patterns that begin at `first`. */
	const struct hd_congestion_request *request = run->request;
	uint64_t parts = request->parts ? request->parts : 1;
	uint64_t begin = count * request->part / parts;
	uint64_t end = count * (request->part + (uint64_t)1) / parts;
	uint32_t own = (uint32_t)(end - begin);
	run->batch_begin = first + begin;
	hd_parallel_for(request->threads, own, grain_of(own, run->worker_count), run_patterns, run);
	for (unsigned i = 0; i < run->worker_count; i++) {
		tally_merge(&run->batch, &run->workers[i].tally);
		tally_clear(&run->workers[i].tally);
	}
	if (!hd_go_on_ask(&run->request->go_on))
		return -ECANCELED;
	int rc = run->request->parts > 1 ? combine(run, first, count) : 0;
	if (rc)
		return rc;
	tally_merge(&run->total, &run->batch);
	return 0;
}

/* True if the histogram has all shares: a route's share is 1/pi. */
static bool histogram_has_shares(const struct run *run)
{
	return !shares_wanted(run->request) && run->workers->counting.parts == 1;
}

static int report_progress(const struct run *run, uint64_t done)
{
	const struct hd_congestion_request *request = run->request;

	if (!request->progress)
		return 0;
	struct hd_congestion_progress progress = {
	    .patterns = done,
	    .wanted = request->patterns,
	    .mean = tally_mean(&run->total, histogram_has_shares(run)),
	    .half_width = tally_half_width(&run->total),
	};
	return request->progress(request->progress_context, &progress);
}

static bool precise_enough(const struct run *run)
{
	return run->request->precision > 0 && run->total.sums[TALLY_MEASURED] > 1 &&
	       tally_half_width(&run->total) <= run->request->precision;
}

static int run_batches(struct run *run, struct hd_error *err)
{
	uint64_t wanted = run->request->patterns, size = shared_batch_size(run->request);

	for (uint64_t done = 0; done < wanted && !precise_enough(run);) {
		uint64_t count = wanted - done < size ? wanted - done : size;
		int rc = run_batch(run, done, count);
		if (rc == -ECANCELED && !done)
			return hd_go_on_stopped(err);
		if (rc == -ECANCELED) {
			run->partial = true;
			break;
		}
		if (rc)
			return hd_error_set(err, rc,
					    "the processes cannot add up their figures: %s",
					    strerror(-rc));
		done += count;
		rc = report_progress(run, done);
		if (rc < 0)
			return hd_error_set(err, -ECANCELED, "stopped after %" PRIu64 " patterns",
					    done);
		if (rc && done < wanted) {
			run->partial = true;
			break;
		}
	}
	if (run->total.sums[TALLY_ROUTES])
		return 0;
	return hd_error_set(err, -EINVAL,
			    "pattern %s: no flow arrives in %" PRIu64 " patterns (%" PRIu64
			    " flows are broken)",
			    run->request->pattern->kind->name, run->total.sums[TALLY_PATTERNS],
			    run->total.sums[TALLY_BROKEN]);
}

/* ---- preparation ---- */

/* The rank of each host, if ranks are adapters of machines. */
static void number_ranks(struct run *run)
{
	const struct hd_ranks *ranks = run->request->ranks;

	if (ranks->adapters <= 1)
		return;
	run->rank = hd_arena_alloc(&run->arena, run->request->fabric->host_count, sizeof(uint32_t));
	for (uint32_t rank = 0; run->rank && rank < ranks->count; rank++)
		run->rank[ranks->host[rank]] = rank;
}

static int init_workers(struct run *run)
{
	number_ranks(run);
	run->worker_count = hd_parallel_workers(run->request->threads);
	run->workers = hd_arena_alloc(&run->arena, run->worker_count, sizeof(*run->workers));
	run->reciprocal = hd_arena_alloc(&run->arena, run->histogram_size, sizeof(uint64_t));
	if (hd_arena_check(&run->arena))
		return -ENOMEM;
	for (uint64_t i = 1; i < run->histogram_size; i++)
		run->reciprocal[i] = (TALLY_ONE + i / 2) / i;
	int rc = tally_init(&run->batch, run->histogram_size, run->link_count, &run->arena);
	if (!rc)
		rc = tally_init(&run->total, run->histogram_size, run->link_count, &run->arena);
	for (unsigned i = 0; !rc && i < run->worker_count; i++) {
		struct worker *worker = &run->workers[i];
		const struct hd_congestion_request *request = run->request;
		const struct hd_pattern *pattern = request->pattern;
		struct hd_arena *arena = &run->arena;
		rc = pattern_drawing_init(&worker->drawing, pattern, request->ranks,
					  request->mapping, request->seed, arena);
		if (!rc)
			rc = counting_init(&worker->counting, &run->paths, pattern->round_max,
					   pattern->single, request->lids, arena);
		if (!rc)
			rc =
			    tally_init(&worker->tally, run->histogram_size, run->link_count, arena);
		if (!rc && request->spread)
			rc = adaptive_init(&worker->adaptive, &run->adaptive, &worker->counting,
					   pattern->round_max, arena);
		if (!rc && shares_wanted(request))
			rc = shares_init(&worker->shares, request, &run->paths, arena);
	}
	return rc;
}

static int find_paths(struct run *run, struct hd_error *err)
{
	const struct hd_congestion_request *request = run->request;
	size_t bytes = request->table_bytes ? request->table_bytes : TABLE_BYTES;
	bool base = request->lids == HD_LIDS_BASE;
	int rc;

	if (request->walk && (request->spread || !base))
		return hd_error_set(err, -EINVAL, "across subnets flows go to base LIDs only");
	if (request->walk)
		return paths_init_walked(&run->paths, request, bytes, &run->arena, err);
	if (!request->spread)
		return paths_init(&run->paths, request->fabric, request->routes, !base, bytes,
				  request->threads, &run->arena, err);
	rc = paths_number(&run->paths, request->fabric, request->routes, false, &run->arena, err);
	if (!rc && adaptive_links_init(&run->adaptive, request->spread, &run->paths, &run->arena))
		rc = hd_error_no_memory(err);
	return rc;
}

static int init_run(struct run *run, struct hd_error *err)
{
	const struct hd_congestion_request *request = run->request;
	const struct hd_fabric *fabric = request->fabric;

	if (!request->patterns)
		return hd_error_set(err, -EINVAL, "0 patterns, expected 1 or more");
	if (request->patterns > UINT32_MAX)
		return hd_error_set(err, -EINVAL,
				    "%" PRIu64 " patterns, expected %" PRIu32 " or fewer",
				    request->patterns, UINT32_MAX);
	if (hd_lids_divide(request->lids) && shares_wanted(request))
		return hd_error_set(err, -EINVAL,
				    "flows spread over all LIDs have only shares of 1/pi: they "
				    "work with neither max-min fair shares nor weights");
	if (request->spread && (request->lids != HD_LIDS_BASE || shares_wanted(request)))
		return hd_error_set(
		    err, -EINVAL,
		    "adaptive routing has only shares of 1/pi to base LIDs: it "
		    "works with neither other LIDs, max-min fair shares nor weights");
	if (request->ranks->fabric != fabric ||
	    request->ranks->adapters != request->pattern->adapters ||
	    request->ranks->count != request->pattern->ranks * request->pattern->adapters)
		return hd_error_set(err, -EINVAL,
				    "the ranks or the pattern belong to another fabric");
	run->histogram_size = request->pattern->round_max + 1;
	if (request->link_flows)
		run->link_count = fabric->isl_count + 2 * fabric->host_count;
	int rc = find_paths(run, err);
	if (rc)
		return rc;
	return init_workers(run) ? hd_error_no_memory(err) : 0;
}

int hd_congestion_run(const struct hd_congestion_request *request,
		      struct hd_congestion_report **out, struct hd_error *err)
{
	struct run run = {.request = request};
	struct hd_congestion_report *report = NULL;
	int rc = agree(request, init_run(&run, err), err);

	if (!rc)
		rc = run_batches(&run, err);
	if (!rc) {
		report = congestion_report_new(&run.total, histogram_has_shares(&run),
					       run.workers->counting.parts);
		if (report)
			report->partial = run.partial;
		rc = agree(request, report ? 0 : hd_error_no_memory(err), err);
	}
	hd_arena_release(&run.arena);
	if (rc)
		hd_congestion_report_free(report);
	else
		*out = report;
	return rc;
}
