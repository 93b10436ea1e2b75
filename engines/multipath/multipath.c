/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * multipath: several paths to a host, one for each of its LIDs. In a fabric with few cycles the low
 * bits of a LID say for each cycle in which direction the packet passes it, so that each path
 * through an irregular network has a LID. In other fabrics every further LID gets shortest paths
 * that share as few links as possible with those of the lower LIDs. Not free of deadlock by itself.
 * Paths that may be longer, in layers, take their lanes into account: multipath_layers.c.
 * Source: Kim, Yum, Das et al., design alternatives for IBA fabrics, sections 3.2 and 3.3.
 */
#include "all_engines.h"
#include "engine_options.h"
#include "multipath_cycles.h"
#include "multipath_job.h"
#include "ranking.h"

#include <errno.h>
#include <heddle/engines/multipath.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- the selection ---- */

/* Which cycles get a path bit, and in which order, when there are more cycles than bits. */
/*
 * A cycle gives a pair of switches a second path if one can reach the other in both directions
 * round it. Cycles are taken greedily by the number of pairs that have no second path yet; when all
 * pairs have one, by the number of pairs for which the bit makes any difference. Patterns are those
 * over all cycles: to leave one out removes its bit and changes no other.
 */

/* The most that is listed. */
struct multipath_cycle_limits {
	uint32_t cycles; /* HD_CYCLES_MAX at most */
	uint64_t paths; /* HD_PATHS_MAX at most */
};

struct found {
	struct hd_cycles cycles; /* first: what the caller holds */
	struct hd_arena arena;
};

struct selection {
	const struct hd_fabric *fabric;
	struct multipath_cycle_lists lists;
	struct multipath_path_search search;
	/* [switch_count] all patterns of paths to the destination at hand */
	struct multipath_path_pattern *seen;
	uint64_t *choice; /* [switch_count^2] cycles that a pair can pass in both directions */
};

static bool note_pattern(void *context, uint32_t from, const uint32_t *links, uint32_t hops)
{
	struct selection *selection = context;
	struct multipath_path_pattern pattern;

	if (multipath_paths_pattern(selection->fabric, &selection->lists, links, hops, &pattern)) {
		selection->seen[from].clockwise |= pattern.clockwise;
		selection->seen[from].counter |= pattern.counter;
	}
	return true;
}

static bool has_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	return !fabric->host_count || fabric->host_base[sw] != fabric->host_base[sw + 1];
}

static void find_choices(struct selection *selection)
{
	const struct hd_fabric *fabric = selection->fabric;
	uint32_t switches = fabric->switch_count;

	for (uint32_t destination = 0; destination < switches; destination++) {
		if (!has_hosts(fabric, destination))
			continue;
		memset(selection->seen, 0, switches * sizeof(*selection->seen));
		multipath_paths_visit(&selection->search, destination, note_pattern, selection);
		for (uint32_t from = 0; from < switches; from++)
			if (has_hosts(fabric, from))
				selection->choice[(size_t)destination * switches + from] =
				    selection->seen[from].clockwise & selection->seen[from].counter;
	}
}

struct gain {
	uint64_t second, any; /* pairs that get a second path; that get another one */
};

/* What each other cycle would add to the cycles kept so far. */
static void weigh(const struct selection *selection, uint64_t kept,
		  struct gain gains[HD_CYCLES_MAX])
{
	size_t pairs = (size_t)selection->fabric->switch_count * selection->fabric->switch_count;

	memset(gains, 0, HD_CYCLES_MAX * sizeof(*gains));
	for (size_t pair = 0; pair < pairs; pair++) {
		uint64_t choice = selection->choice[pair];
		for (uint64_t rest = choice & ~kept; rest; rest &= rest - 1) {
			gains[__builtin_ctzll(rest)].any++;
			gains[__builtin_ctzll(rest)].second += !(choice & kept);
		}
	}
}

/* The first cycle of greatest gain that is not kept yet. */
static uint32_t best_cycle(const struct selection *selection, uint64_t kept, uint32_t count)
{
	struct gain gains[HD_CYCLES_MAX];
	uint32_t best = HD_NONE;

	weigh(selection, kept, gains);
	for (uint32_t i = 0; i < count; i++) {
		if (kept >> i & 1)
			continue;
		if (best == HD_NONE || gains[i].second > gains[best].second ||
		    (gains[i].second == gains[best].second && gains[i].any > gains[best].any))
			best = i;
	}
	return best;
}

/* Puts the cycles that are kept to the front, in the order in which they are taken. */
static int order_cycles(struct found *found, const struct selection *selection, unsigned bits,
			const struct hd_cycle *cycles)
{
	uint32_t count = found->cycles.count, end = 0;
	struct hd_cycle *ordered = hd_arena_alloc(&found->arena, count, sizeof(*ordered));
	uint64_t kept = 0;

	if (!ordered)
		return -ENOMEM;
	while (end < count && end < bits) {
		uint32_t best = best_cycle(selection, kept, count);
		kept |= UINT64_C(1) << best;
		ordered[end++] = cycles[best];
	}
	found->cycles.kept = end;
	for (uint32_t i = 0; i < count; i++)
		if (!(kept >> i & 1))
			ordered[end++] = cycles[i];
	found->cycles.cycles = ordered;
	return 0;
}

static int allocate(struct selection *selection, const struct hd_cycle *cycles, uint32_t count,
		    struct hd_arena *arena)
{
	size_t switches = selection->fabric->switch_count;

	selection->seen = hd_arena_alloc(arena, switches, sizeof(*selection->seen));
	selection->choice = hd_arena_alloc(arena, switches * switches, sizeof(*selection->choice));
	return multipath_cycles_list(selection->fabric, cycles, count, arena, &selection->lists);
}

static int too_many(struct found *found, struct multipath_path_search *search,
		    const struct multipath_cycle_limits *limits, struct hd_error *err)
{
	struct hd_cycles *cycles = &found->cycles;

	if (multipath_cycles_count(search->fabric, &cycles->count))
		return hd_error_no_memory(err);
	if (cycles->count > limits->cycles)
		return hd_error_set(err, -E2BIG,
				    "the fabric has %" PRIu32 " independent cycles, more than the "
				    "%u among which path bits can be chosen",
				    cycles->count, limits->cycles);
	cycles->paths = multipath_paths_count(search, limits->paths);
	if (cycles->paths > limits->paths)
		return hd_error_set(err, -E2BIG,
				    "the fabric's %" PRIu32 " independent cycles make more than "
				    "%" PRIu64 " paths",
				    cycles->count, limits->paths);
	return 0;
}

static int select_into(struct found *found, const struct hd_fabric *fabric, unsigned bits,
		       const struct multipath_cycle_limits *limits, struct hd_arena *scratch,
		       struct hd_error *err)
{
	struct selection selection = {.fabric = fabric};
	struct hd_cycle *cycles;

	if (multipath_paths_allocate(&selection.search, fabric, scratch))
		return hd_error_no_memory(err);
	int rc = too_many(found, &selection.search, limits, err);
	if (rc)
		return rc;
	uint32_t count = found->cycles.count;
	if (multipath_cycles_close(fabric, found->cycles.root, count, &found->arena, &cycles) ||
	    allocate(&selection, cycles, count, scratch))
		return hd_error_no_memory(err);
	find_choices(&selection);
	return order_cycles(found, &selection, bits, cycles) ? hd_error_no_memory(err) : 0;
}

/* hd_cycles_find() with limits of its own. */
static int multipath_select_cycles(const struct hd_fabric *fabric, uint32_t root, unsigned bits,
				   const struct multipath_cycle_limits *limits,
				   struct hd_cycles **out, struct hd_error *err)
{
	struct hd_arena scratch = {0};
	struct found *found = calloc(1, sizeof(*found));

	if (!found)
		return hd_error_no_memory(err);
	found->cycles.root = root;
	int rc = select_into(found, fabric, bits, limits, &scratch, err);
	hd_arena_release(&scratch);
	if (rc)
		hd_cycles_free(&found->cycles);
	else
		*out = &found->cycles;
	return rc;
}

int hd_cycles_find(const struct hd_fabric *fabric, uint32_t root, unsigned bits,
		   struct hd_cycles **out, struct hd_error *err)
{
	const struct multipath_cycle_limits limits = {HD_CYCLES_MAX, HD_PATHS_MAX};

	if (root >= fabric->switch_count)
		return hd_error_set(err, -EINVAL,
				    "root: no switch has index %" PRIu32 ", the fabric has %" PRIu32
				    " of them",
				    root, fabric->switch_count);
	return multipath_select_cycles(fabric, root, bits, &limits, out, err);
}

void hd_cycles_free(struct hd_cycles *cycles)
{
	struct found *found = (struct found *)cycles;

	if (!found)
		return;
	hd_arena_release(&found->arena);
	free(found);
}

/* ---- the engine ---- */

/* What mode=auto lists: about half a second's work, and no more cycles than there can be path bits.
 * In a fabric with more of them, most are parallel cables or squares of a tree, where path bits
 * would only make paths longer. */
static const struct multipath_cycle_limits auto_limits = {HD_LMC_MAX, UINT64_C(1) << 20};

static const struct multipath_cycle_limits most_limits = {HD_CYCLES_MAX, HD_PATHS_MAX};

/* 0 = auto; -EINVAL */
static int parse_root(const char *text, uint64_t *guid, struct hd_error *err)
{
	*guid = 0;
	if (!strcmp(text, "auto"))
		return 0;
	if (!engine_options_guid(text, guid) || !*guid)
		return hd_error_set(err, -EINVAL, "'%s' is neither auto nor a GUID", text);
	return 0;
}

static int validate_root(const char *text, struct hd_error *err)
{
	uint64_t guid;

	return parse_root(text, &guid, err);
}

static const struct hd_option options[] = {
    {.name = "mode",
     .summary =
	 "paths of a host's further LIDs: round the fabric's cycles (cycles), other shortest "
	 "paths (offsets), paths one hop longer at most (layers), or cycles if the fabric has few "
	 "of them, else offsets (auto)",
     .type = HD_OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|cycles|offsets|layers"},
    {.name = "match",
     .summary = "path bits that a switch looks at: those of the cycles through it (through), or "
		"all, for more different paths, but tables that compress less (all)",
     .type = HD_OPTION_CHOICE,
     .fallback = "through",
     .choices = "through|all"},
    {.name = "indicator",
     .summary = "the highest bit of a LID offset says whether the others are path bits: without it "
		"packets take the path of spf, so that base LIDs have no longer paths",
     .type = HD_OPTION_BOOL,
     .fallback = "no"},
    {.name = "root",
     .summary = "root of the tree from which the cycles come: each cable outside it closes one; "
		"auto (the centre) or a switch GUID",
     .type = HD_OPTION_STRING,
     .fallback = "auto",
     .validate = validate_root},
    {.name = "passes",
     .summary = "most rounds of balancing over all destinations",
     .type = HD_OPTION_INT,
     .fallback = "3",
     .minimum = 1,
     .maximum = 16},
    BALANCE_OPTION_BY,
    BALANCE_OPTION_REBALANCE,
    LANE_OPTIONS,
};

/* ---- cycles ---- */

static int find_centre(const struct multipath_job *job, uint32_t *root, struct hd_error *err)
{
	struct ranking ranking = {.fabric = job->fabric, .request = job->request};
	int rc = ranking_allocate(&ranking) ? hd_error_no_memory(err)
					    : ranking_find_centres(&ranking, err);

	if (!rc)
		*root = ranking.centres[0];
	hd_arena_release(&ranking.arena);
	return rc;
}

/* The root of the option, else that of the policy, else the centre. */
static int find_root(const struct multipath_job *job, uint32_t *root, struct hd_error *err)
{
	uint64_t guid;
	int rc = parse_root(hd_options_get(job->request->options, "root")->text, &guid, err);

	if (rc)
		return rc;
	if (guid) {
		*root = hd_fabric_find_node(job->fabric, guid);
		if (*root >= job->fabric->switch_count)
			return hd_error_set(
			    err, -EINVAL, "option 'root': no switch has GUID 0x%016" PRIx64, guid);
		return 0;
	}
	for (uint32_t sw = 0; job->policy.is_root && sw < job->fabric->switch_count; sw++) {
		if (job->policy.is_root[sw]) {
			*root = sw;
			return 0;
		}
	}
	return find_centre(job, root, err);
}

/* Leaves job->cycles NULL where LID offsets are used instead. */
static int find_cycles(struct multipath_job *job, struct hd_error *err)
{
	struct hd_error reason = {""};
	int64_t mode = multipath_option(job, "mode");
	uint32_t root;
	unsigned bits = hd_fabric_largest_lmc(job->fabric);

	if (bits && multipath_option(job, "indicator"))
		bits--;
	if (mode == MULTIPATH_OFFSETS || !bits)
		return 0;
	int rc = find_root(job, &root, err);
	if (!rc)
		rc = multipath_select_cycles(job->fabric, root, bits,
					     mode == MULTIPATH_AUTO ? &auto_limits : &most_limits,
					     &job->cycles, &reason);
	if (rc == -E2BIG && mode == MULTIPATH_AUTO) {
		job->too_many = reason;
		return 0;
	}
	if (rc == -E2BIG)
		return hd_error_set(err, -ENOTSUP,
				    "%s; use mode=layers (paths one hop longer at most) or "
				    "mode=offsets (shortest paths)",
				    reason.text);
	return rc && reason.text[0] ? hd_error_set(err, rc, "%s", reason.text) : rc;
}

/* ---- remarks ---- */

static void remark_cycles(const struct multipath_job *job)
{
	const struct hd_fabric *fabric = job->fabric;
	const struct hd_cycles *cycles = job->cycles;
	char near[HD_LABEL_SIZE], far[HD_LABEL_SIZE];

	hd_log(job->request->log, HD_LOG_INFO,
	       "multipath: %" PRIu32 " independent cycles seen from '%s', %" PRIu32
	       " of them have a path bit",
	       cycles->count, fabric->node_name[cycles->root], cycles->kept);
	for (uint32_t i = cycles->kept; i < cycles->count; i++) {
		uint32_t link = cycles->cycles[i].links[0];
		uint32_t port =
		    hd_port_index(fabric, hd_isl_from(fabric, link), fabric->isl_port[link]);
		hd_port_label(fabric, port, near, sizeof(near));
		hd_port_label(fabric, fabric->peer[port], far, sizeof(far));
		hd_log(job->request->log, HD_LOG_INFO,
		       "multipath: no path bit for the cycle of %" PRIu32
		       " switches that the link %s to %s closes",
		       cycles->cycles[i].length, near, far);
	}
}

static int remark_tables(const struct multipath_job *job, const struct hd_routes *routes,
			 struct hd_error *err)
{
	uint32_t switches = job->fabric->switch_count;
	uint64_t counted = 0, merged = 0;
	struct hd_path_table *tables = calloc(switches, sizeof(*tables));
	int rc = tables ? hd_path_tables_measure(job->fabric, job->cycles, routes, tables, err)
			: hd_error_no_memory(err);

	/* with an indicator one entry for each switch, for the LIDs without it */
	bool indicator = multipath_option(job, "indicator") != 0;
	for (uint32_t sw = 0; !rc && sw < switches; sw++) {
		counted += tables[sw].counted + (indicator ? switches : 0);
		merged += tables[sw].merged;
	}
	if (!rc)
		hd_log(job->request->log, HD_LOG_INFO,
		       "multipath: entries that a switch needs if its table has don't-care bits: "
		       "%.1f on average after merging, %.1f by the cycles through it; without such "
		       "bits %" PRIu64,
		       (double)merged / switches, (double)counted / switches,
		       (uint64_t)switches << (job->cycles->kept + indicator));
	free(tables);
	return rc;
}

/* ---- tables ---- */

static int route_cycles(struct multipath_job *job, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_route_request *request = job->request;
	struct hd_routes *routes = NULL;
	int rc = request->previous ? multipath_route_again(job, &routes, err)
				   : multipath_route_fresh(job, &routes, err);

	/* if tables in place do not fit the lanes, hd_engine_route() routes afresh */
	if (!rc && !request->previous)
		rc = multipath_fit_lanes(job, &routes, err);
	/* as much work as routing: not in every sweep, and not without a reader */
	if (!rc && request->log && !request->previous) {
		remark_cycles(job);
		rc = remark_tables(job, routes, err);
	}
	if (rc)
		hd_routes_free(routes);
	else
		*out = routes;
	return rc;
}

/* One more cable may be one cycle too many. That is no reason to change what has path bits. */
static int route_offsets(struct multipath_job *job, struct hd_routes **out, struct hd_error *err)
{
	struct balance_plan plan = multipath_balance(job, job->request);
	const char *reason = job->too_many.text;
	bool stay = false;
	int rc =
	    reason[0] && job->request->previous ? multipath_find_path_bits(job, &stay, err) : 0;

	if (rc)
		return rc;
	if (multipath_option(job, "indicator") && !stay)
		hd_log(job->request->log, HD_LOG_INFO,
		       "multipath: indicator=yes changes nothing: without path bits all LIDs have "
		       "shortest paths");
	if (reason[0])
		hd_log(job->request->log, HD_LOG_INFO, "multipath: %s; %s", reason,
		       stay ? "the path bits in place stay as long as they lead to their hosts"
			    : "further LIDs get other shortest paths instead");
	return stay ? multipath_route_again(job, out, err)
		    : multipath_offsets_route(&plan, out, err);
}

/* Without a cycle there is one path to each switch, and nothing for path bits to choose. */
static int route_by_mode(struct multipath_job *job, struct hd_routes **out, struct hd_error *err)
{
	if (multipath_option(job, "mode") == MULTIPATH_LAYERS)
		return multipath_route_layers(job, out, err);
	int rc = find_cycles(job, err);

	if (rc)
		return rc;
	bool path_bits = job->cycles && job->cycles->kept;
	return path_bits ? route_cycles(job, out, err) : route_offsets(job, out, err);
}

static int route(const struct hd_route_request *request, struct hd_routes **out,
		 struct hd_error *err)
{
	struct multipath_job job = {.request = request, .fabric = request->fabric};
	int rc = resolved_policy_make(request, &job.policy, err);

	if (rc)
		return rc;
	rc = route_by_mode(&job, out, err);
	hd_routes_free(job.fresh);
	hd_cycles_free(job.cycles);
	resolved_policy_release(&job.policy);
	return rc;
}

const struct hd_engine hd_engine_multipath = {
    .name = "multipath",
    .summary = "several paths to a host, one for each of its LIDs",
    .description =
	"With lmc set, each LID of a host has paths of its own. In an irregular network the low "
	"bits of the LID say in which direction a packet passes each cycle (path bits). In a "
	"fabric with many cycles each LID gets other shortest paths, or with mode=layers paths "
	"that are one hop longer at most, for HyperX, Slim Fly, Dragonfly and Jellyfish.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |
		HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_ORDER) |
		HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .keeps_entries = true,
    .route = route,
};
