/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which router port a host of another subnet is reached by, so that each top switch has an equal part (ISFR).
 *
 * hd_isfr_plan_new() is called before maps of several subnets are made, and by scenarios with `map = isfr`. A subnet
 * is looked at as a regular tree without its routers and without stray cables; if it is none, the plan says why
 * (hd_isfr_reason_name()). Hosts are numbered by their place in the tree, and a host's number says the top switch and
 * so the router. hd_isfr_list_hosts() gives the same numbers to the handshake, so that routers and maps agree.
 */
#include <errno.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/regular_tree.h>
#include <heddle/ir_router/assign.h>
#include <stdlib.h>
#include <string.h>

/* A subnet as a regular tree: without its routers and without its stray cables. */

struct local_tree {
	/* a copy without the cables of routers; node and port indices are those of the original */
	struct hd_fabric *bare;
	struct hd_tree levels;
	struct hd_tree_pruned pruned; /* what `tree` refers to if there are stray cables */
	struct hd_regular_tree tree;
	struct hd_arena arena;
};

static int build_bare(const struct hd_fabric *fabric, struct hd_fabric **out)
{
	struct hd_builder *builder = hd_builder_from(fabric);

	if (!builder)
		return -ENOMEM;
	for (uint32_t node = fabric->switch_count; node < fabric->node_count; node++)
		for (uint32_t port = 1;
		     fabric->node_type[node] == HD_ROUTER && port <= hd_node_ports(fabric, node);
		     port++)
			hd_builder_unlink(builder, node, port);
	int rc = hd_builder_build(builder, out, NULL);
	hd_builder_free(builder);
	/* the fabric was valid with the cables */
	return rc ? -ENOMEM : 0;
}

/* Labels the first tree that is regular. */
static int label(struct local_tree *local, const struct hd_fabric *fabric)
{
	const struct hd_tree_facts facts = {NULL, NULL};
	int rc = hd_tree_find(fabric, &facts, 1, &local->arena, &local->levels, NULL);

	while (!rc) {
		rc = hd_regular_tree_label(fabric, &local->levels, &local->arena, &local->tree);
		if (rc <= 0)
			return rc;
		rc = hd_tree_try_next(fabric, &facts, &local->arena, &local->levels, NULL);
	}
	return rc == -ENOMEM ? rc : HD_TREE_IRREGULAR;
}

/* Labels the subnet. 0, HD_TREE_IRREGULAR (it is no regular tree), or -ENOMEM. Released in any
 * case with local_tree_release(). Cost: that of a build of the fabric. */
static int local_tree_make(const struct hd_fabric *fabric, struct local_tree *out)
{
	const struct hd_tree_facts facts = {NULL, NULL};

	*out = (struct local_tree){.bare = NULL};
	int rc = build_bare(fabric, &out->bare);
	if (!rc)
		rc = label(out, out->bare);
	if (rc != HD_TREE_IRREGULAR)
		return rc;
	rc = hd_tree_prune(out->bare, &facts, NULL, &out->arena, &out->pruned);
	if (rc)
		return rc == -ENOMEM ? rc : HD_TREE_IRREGULAR;
	return label(out, &out->pruned.fabric);
}

const char *hd_isfr_reason_name(enum hd_isfr_reason reason)
{
	static const char *const names[] = {
	    [HD_ISFR_USED] = "routed by ISFR",
	    [HD_ISFR_NO_TREE] = "a subnet is no regular tree",
	    [HD_ISFR_NOT_ON_TOP] = "no router is on the top of a subnet",
	    [HD_ISFR_NO_PLACE] = "the host has no place in its tree",
	    [HD_ISFR_NO_CABLE] = "a cable between a top switch and a router is missing"};

	return names[reason];
}

/* What is needed to plan one subnet. */
struct planning {
	const struct hd_interconnect *interconnect;
	struct hd_isfr_plan *plan;
	const struct hd_regular_tree *tree;
	uint32_t subnet;
};

static uint32_t ports_begin(const struct planning *planning)
{
	return planning->interconnect->ordered_base[planning->subnet];
}

static uint32_t ports_end(const struct planning *planning)
{
	return planning->interconnect->ordered_base[planning->subnet + 1];
}

static const struct hd_router_port *port_at(const struct planning *planning, uint32_t i)
{
	return &planning->interconnect->ports[planning->interconnect->ordered[i]];
}

/* Position of a top switch of the completed tree, or HD_NONE. */
static uint32_t group_of(const struct planning *planning, uint32_t sw)
{
	const struct hd_regular_tree *tree = planning->tree;

	return tree->level[sw] == hd_regular_tree_top(tree) ? tree->group[sw] : HD_NONE;
}

/*
 * Which of the cables between the same switch and the same router a port is: they are counted by
 * the number of the switch's port.
 */
static uint32_t parallel_of(const struct planning *planning, const struct hd_router_port *port)
{
	uint32_t count = 0;

	for (uint32_t i = ports_begin(planning); i < ports_end(planning); i++) {
		const struct hd_router_port *other = port_at(planning, i);
		count += other->router == port->router && other->sw == port->sw &&
			 other->sw_port < port->sw_port;
	}
	return count;
}

/* Parallel cables from a top switch to one router; 0: no router port is on the top. */
static uint32_t count_parallel(const struct planning *planning)
{
	uint32_t most = 0;

	for (uint32_t i = ports_begin(planning); i < ports_end(planning); i++) {
		const struct hd_router_port *port = port_at(planning, i);
		if (group_of(planning, port->sw) == HD_NONE)
			continue;
		uint32_t parallel = parallel_of(planning, port) + 1;
		most = parallel > most ? parallel : most;
	}
	return most;
}

/* The tree's hosts are those of the fabric without routers, so ports join the two. */
static void number_hosts(const struct planning *planning, struct hd_isfr_subnet *subnet)
{
	const struct hd_fabric *fabric = planning->interconnect->subnets[planning->subnet].fabric;
	const struct hd_regular_tree *tree = planning->tree;

	for (uint32_t host = 0; host < tree->fabric->host_count; host++) {
		uint32_t sw = tree->fabric->host_switch[host];
		uint32_t own = hd_fabric_find_host(fabric, tree->fabric->host_port[host]);
		if (own == HD_NONE || tree->level[sw] || tree->first_leaf[sw] == HD_NONE ||
		    tree->host_slot[host] >= tree->hosts)
			continue;
		subnet->number[own] = tree->first_leaf[sw] * tree->hosts + tree->host_slot[host];
	}
}

static int plan_tree(const struct planning *planning, struct hd_isfr_subnet *subnet)
{
	const struct hd_regular_tree *tree = planning->tree;
	uint32_t top = hd_regular_tree_top(tree), parallel = count_parallel(planning);

	/* more than one subtree would have to be joined by routers inside the subnet */
	if (hd_regular_tree_blocks(tree, top) != 1) {
		subnet->reason = HD_ISFR_NO_TREE;
		return 0;
	}
	if (!parallel) {
		subnet->reason = HD_ISFR_NOT_ON_TOP;
		return 0;
	}
	subnet->groups = tree->above[top];
	subnet->cables = parallel * planning->interconnect->router_count;
	subnet->hosts = tree->leaves[top] * tree->hosts;
	struct hd_arena *arena = &planning->plan->arena;
	uint32_t hosts = planning->interconnect->subnets[planning->subnet].fabric->host_count;
	subnet->top = hd_arena_alloc(arena, subnet->groups, sizeof(uint32_t));
	subnet->port =
	    hd_arena_alloc(arena, (size_t)subnet->groups * subnet->cables, sizeof(uint32_t));
	subnet->number = hd_arena_alloc(arena, hosts, sizeof(uint32_t));
	if (hd_arena_check(arena))
		return -ENOMEM;
	memset(subnet->top, 0xFF, subnet->groups * sizeof(uint32_t));
	memset(subnet->port, 0xFF, (size_t)subnet->groups * subnet->cables * sizeof(uint32_t));
	memset(subnet->number, 0xFF, hosts * sizeof(uint32_t));
	memcpy(subnet->top, tree->at[top], subnet->groups * sizeof(uint32_t));
	for (uint32_t i = ports_begin(planning); i < ports_end(planning); i++) {
		const struct hd_router_port *port = port_at(planning, i);
		uint32_t group = group_of(planning, port->sw);
		if (group == HD_NONE)
			continue;
		uint32_t cable =
		    parallel_of(planning, port) * planning->interconnect->router_count +
		    port->router;
		subnet->port[group * subnet->cables + cable] = planning->interconnect->ordered[i];
	}
	number_hosts(planning, subnet);
	return 0;
}

int hd_isfr_plan_new(const struct hd_interconnect *interconnect, struct hd_isfr_plan **out,
		     struct hd_error *err)
{
	struct hd_isfr_plan *plan = calloc(1, sizeof(*plan));
	uint32_t base = 0;
	int rc = 0;

	if (!plan)
		return hd_error_no_memory(err);
	plan->interconnect = interconnect;
	plan->subnets =
	    hd_arena_alloc(&plan->arena, interconnect->subnet_count, sizeof(*plan->subnets));
	for (uint32_t i = 0; plan->subnets && !rc && i < interconnect->subnet_count; i++) {
		struct planning planning = {
		    .interconnect = interconnect, .plan = plan, .subnet = i};
		struct hd_isfr_subnet *subnet = &planning.plan->subnets[planning.subnet];
		struct local_tree local;
		rc =
		    local_tree_make(planning.interconnect->subnets[planning.subnet].fabric, &local);
		planning.tree = &local.tree;
		if (rc == HD_TREE_IRREGULAR) {
			subnet->reason = HD_ISFR_NO_TREE;
			rc = 0;
		} else if (!rc) {
			rc = plan_tree(&planning, subnet);
		}
		hd_arena_release(&local.arena);
		hd_fabric_free(local.bare);

		plan->subnets[i].base = base;
		base += plan->subnets[i].hosts;
	}
	if (rc || hd_arena_check(&plan->arena)) {
		hd_isfr_plan_free(plan);
		return hd_error_no_memory(err);
	}
	*out = plan;
	return 0;
}

void hd_isfr_plan_free(struct hd_isfr_plan *plan)
{
	if (!plan)
		return;
	hd_arena_release(&plan->arena);
	free(plan);
}

static struct hd_handshake_host host_of(const struct hd_fabric *fabric,
					const struct hd_isfr_subnet *tree, uint32_t host,
					uint32_t number)
{
	uint32_t port = fabric->host_port[host];
	struct hd_handshake_host entry = {
	    .guid = fabric->port_guid[port], .lid = fabric->lid[port], .place = number};

	if (!tree || tree->reason || tree->number[host] == HD_NONE)
		return entry;
	entry.place = tree->number[host];
	uint32_t top = tree->top[entry.place % tree->groups];
	entry.top_switch = top == HD_NONE ? 0 : fabric->node_guid[top];
	return entry;
}

static int compare_hosts(const void *a, const void *b)
{
	const struct hd_handshake_host *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

int hd_isfr_list_hosts(const struct hd_fabric *fabric, const struct hd_isfr_subnet *tree,
		       struct hd_arena *arena, const struct hd_handshake_host **hosts,
		       uint32_t *count)
{
	struct hd_handshake_host *list =
	    hd_arena_alloc(arena, (size_t)fabric->host_count + 1, sizeof(*list));
	uint32_t listed = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		uint32_t port = fabric->host_port[host];
		if (fabric->node_type[fabric->port_node[port]] == HD_ROUTER || !fabric->lid[port] ||
		    !fabric->port_guid[port])
			continue;
		list[listed] = host_of(fabric, tree, host, listed);
		listed++;
	}
	qsort(list, listed, sizeof(*list), compare_hosts);
	*hosts = list;
	*count = listed;
	return 0;
}
