/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "multipath.h"
#include "lane_options.h"
#include "multipath_job.h"
#include "multipath_offsets.h"
#include "multipath_select.h"
#include "ranking.h"
#include "root_option.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

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
	if (!root_option_guid(text, guid) || !*guid)
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
	 "paths (offsets), or cycles if the fabric has few of them (auto)",
     .type = HD_OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|cycles|offsets"},
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
		return hd_error_set(err, -ENOTSUP, "%s; use mode=offsets", reason.text);
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
	"fabric with many cycles each LID gets other shortest paths.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |
		HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_ORDER) |
		HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS),
    .keeps_entries = true,
    .route = route,
};
