/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a subnet that routers join to others. A map says which router port the packets to
 * each foreign destination go to; these engines make the paths to the router ports, which count as
 * destinations like hosts.
 *
 * A packet keeps its service level in all subnets, but each subnet has its own maps from service
 * levels to lanes. So all paths are on one lane.
 */
#include "all_engines.h"
#include "delegate.h"
#include "engine_options.h"

#include <errno.h>

static const struct hd_option options[] = {LANE_OPTIONS};

/* A tree by D-mod-K, any other fabric by updown. */
static int route_any(const struct hd_route_request *request, const char *remark,
		     enum hd_log_level level, struct hd_routes **out, struct hd_error *err)
{
	struct hd_error reason = {""};
	const struct delegate_way way = {.one_lane = true};
	int rc = delegate_route(&hd_engine_dmodk, request, way, out, &reason);

	if (rc != -ENOTSUP) {
		if (rc && err)
			*err = reason;
		return rc;
	}
	hd_log(request->log, level, "%s: %s", remark, reason.text);
	return delegate_route(&hd_engine_updown, request, way, out, err);
}

static int route_issr(const struct hd_route_request *request, struct hd_routes **out,
		      struct hd_error *err)
{
	return route_any(request, "issr takes updown", HD_LOG_INFO, out, err);
}

static int route_isfr(const struct hd_route_request *request, struct hd_routes **out,
		      struct hd_error *err)
{
	return route_any(request,
			 "isfr: this subnet and its routers do not form a fat tree, so foreign "
			 "destinations need a map by ISSR; isfr takes updown",
			 HD_LOG_WARNING, out, err);
}

#define ACROSS_POLICIES                                                                            \
	(HD_POLICY_COMMON | HD_POLICY_BIT(HD_POLICY_ROOTS) |                                       \
	 HD_POLICY_BIT(HD_POLICY_COMPUTE_NODES) | HD_POLICY_BIT(HD_POLICY_IO_NODES) |              \
	 HD_POLICY_BIT(HD_POLICY_ORDER) | HD_POLICY_BIT(HD_POLICY_IGNORED_PORTS))

const struct hd_engine hd_engine_issr = {
    .name = "issr",
    .summary = "a subnet with routers: dmodk on trees, else updown, on one lane",
    .description =
	"Inter-subnet source routing: the local tables of a subnet that routers join to "
	"others. Router ports are destinations like hosts. dmodk where the fabric is a fat "
	"tree, else updown. All paths are on one virtual lane, because packets keep their "
	"service level in the next subnet; a fabric that needs more is refused.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = ACROSS_POLICIES,
    .one_lane = true,
    .delegates = true,
    .route = route_issr,
};

const struct hd_engine hd_engine_isfr = {
    .name = "isfr",
    .summary = "a fat tree with routers at its top, routed like one more level of the tree",
    .description =
	"Inter-subnet fat-tree routing: the local tables of a fat tree whose top "
	"switches are cabled to routers. Together with a map by ISFR, packets climb to the "
	"routers as if these were the top of one large tree. dmodk makes the tables; where "
	"it refuses, updown does, and a warning says why. All paths are on one virtual "
	"lane: vls and spread have no effect.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .policies = ACROSS_POLICIES,
    .one_lane = true,
    .delegates = true,
    .route = route_isfr,
};
