/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an administrator says of the fabric changes the tables as OpenSM documents it for the
 * options of the same names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"

#include <errno.h>

static bool arrives(const struct hd_fabric *fabric, const struct hd_routes *routes, uint32_t sw,
		    uint32_t lid)
{
	uint32_t link, steps = 0;

	while ((link = link_taken(fabric, routes, sw, lid)) != HD_NONE &&
	       steps++ < fabric->switch_count)
		sw = fabric->isl_to[link];
	return fabric->lid_owner[lid] ==
	       fabric->peer[hd_port_index(fabric, sw,
					  hd_routes_port(routes, sw, lid) == HD_NO_PORT
					      ? 0
					      : hd_routes_port(routes, sw, lid))];
}

/*
 *   H0      H1      H2     Three switches in a row with a host each are no tree by themselves;
 *   S0 ---- S1 ---- S2     with S1 as the root, or with H0 and H2 as compute nodes, they are one.
 */
static void roots_and_compute_nodes_make_a_tree(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("mesh", "dims=3 hosts=1");
	struct hd_error err = {""};
	struct hd_routes *routes = NULL;
	uint64_t root = fabric->node_guid[1];
	uint64_t compute[] = {host_guid(fabric, 0), host_guid(fabric, 2)};
	struct hd_policy roots = {.root_guids = &root, .root_count = 1};
	struct hd_policy nodes = {.cn_guids = compute, .cn_count = 2};
	assert_int_equal(
	    route_try("dmodk", "", &(struct hd_route_request){.fabric = fabric}, &routes, &err),
	    -ENOTSUP);
	routes = route_policy("dmodk", "", fabric, &roots);
	assert_clean(fabric, routes);
	hd_routes_free(routes);
	routes = route_policy("dmodk", "", fabric, &nodes);
	assert_clean(fabric, routes);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: root_guids decide which way is up: on a ring the link opposite the root, where two
 * ways down meet, is crossed by nobody but its two neighbours. */
static void root_guids_turn_updown(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=6 hosts=1");
	struct hd_routes *last = NULL;
	for (uint32_t root = 0; root < 6; root++) {
		uint64_t guid = fabric->node_guid[root];
		struct hd_policy policy = {.root_guids = &guid, .root_count = 1};
		struct hd_routes *routes = route_policy("updown", "", fabric, &policy);
		uint32_t bottom = (root + 3) % 6;
		assert_clean(fabric, routes);
		for (uint32_t host = 0; host < 6; host++) {
			uint32_t lid = host_lid(fabric, host);
			uint32_t left = (bottom + 5) % 6, right = (bottom + 1) % 6;
			/* through the bottom would be down, then up */
			for (int side = 0; side < 2 && fabric->host_switch[host] != bottom;
			     side++) {
				uint32_t sw = side ? left : right;
				uint32_t link = link_taken(fabric, routes, sw, lid);
				assert_true(link == HD_NONE || fabric->isl_to[link] != bottom);
			}
		}
		hd_routes_free(last);
		last = routes;
	}
	hd_routes_free(last);
	hd_fabric_free(fabric);
}

/* Destinations among the marked hosts that each link into a leaf carries, at most. */
static uint32_t most_marked_on_a_link(const struct hd_fabric *fabric,
				      const struct hd_routes *routes, unsigned stride)
{
	uint32_t *count = calloc(fabric->isl_count, sizeof(*count)), most = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		for (uint32_t host = 0; host < fabric->host_count; host += stride) {
			uint32_t link = link_taken(fabric, routes, sw, host_lid(fabric, host));
			if (level_named(fabric, sw) == 1 && link != HD_NONE)
				most = ++count[link] > most ? count[link] : most;
		}
	free(count);
	return most;
}

/* Property: every second host is a compute node; without a word they all go by every second
 * spine, named by cn_guids they spread over all: half as many on the busiest up-link. */
static void compute_nodes_are_balanced_apart(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,4");
	uint64_t guids[8];
	for (uint32_t i = 0; i < 8; i++)
		guids[i] = host_guid(fabric, 2 * i);
	struct hd_policy policy = {.cn_guids = guids, .cn_count = 8};
	struct hd_routes *without = route("dmodk", "", fabric);
	struct hd_routes *with = route_policy("dmodk", "", fabric, &policy);
	assert_clean(fabric, with);
	assert_int_equal(most_marked_on_a_link(fabric, without, 2), 3);
	assert_int_equal(most_marked_on_a_link(fabric, with, 2), 2);
	hd_routes_free(without);
	hd_routes_free(with);
	hd_fabric_free(fabric);
}

/* The engine refuses, and says of an I/O node's GUID what is wrong. */
static void assert_names_fault(const struct hd_fabric *fabric, const struct hd_policy *policy,
			       const char *what)
{
	const struct hd_route_request request = {.fabric = fabric, .policy = policy};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	assert_int_equal(route_try("dmodk", "", &request, &routes, &err), -ENOTSUP);
	if (!strstr(err.text, what) || !strstr(err.text, "0x000000000090"))
		fail_msg("'%s' does not say '%s'", err.text, what);
}

/*
 * Property: hosts on two tops that share no switch two levels below can reach each other only
 * against the tree. Without io_guids they do; as I/O nodes they do when max_reverse_hops is large
 * enough. Otherwise, and as hosts that io_guids leave out, the engine refuses and names one of
 * them.
 */
static void io_nodes_take_reverse_hops(void **state)
{
	(void)state;
	struct hd_fabric *fabric =
	    with_free_ports(generate("xgft", "children=2,2,2 parents=1,2,2"), 1);
	uint32_t tops[4], count = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level_named(fabric, sw) == 3)
			tops[count++] = sw;
	assert_int_equal(count, 4);
	uint64_t compute[8], io[2] = {0x900000, 0x900100};
	for (uint32_t host = 0; host < 8; host++)
		compute[host] = host_guid(fabric, host);
	fabric = with_host_at(fabric, tops[0], io[0]);
	fabric = with_host_at(fabric, tops[3], io[1]);
	uint32_t a = fabric->lid[hd_fabric_find_port(fabric, io[0] + 1)];
	uint32_t b = fabric->lid[hd_fabric_find_port(fabric, io[1] + 1)];
	assert_true(a && b);
	struct hd_routes *last = NULL;
	for (unsigned hops = 0; hops <= 2; hops++) {
		struct hd_policy policy = {.cn_guids = compute,
					   .cn_count = 8,
					   .io_guids = io,
					   .io_count = 2,
					   .max_reverse_hops = hops};
		if (hops < 2) {
			assert_names_fault(fabric, &policy, "max_reverse_hops is too small");
			continue;
		}
		struct hd_routes *routes = route_policy("dmodk", "", fabric, &policy);
		assert_true(arrives(fabric, routes, tops[0], b));
		assert_true(arrives(fabric, routes, tops[3], a));
		for (uint32_t host = 0; host < fabric->host_count; host++) {
			uint32_t leaf = fabric->host_switch[host];
			if (level_named(fabric, leaf) > 1)
				continue;
			assert_true(arrives(fabric, routes, leaf, a));
			assert_true(arrives(fabric, routes, tops[0], host_lid(fabric, host)));
		}
		hd_routes_free(last);
		last = routes;
	}
	struct hd_policy other = {.cn_guids = compute,
				  .cn_count = 8,
				  .io_guids = compute,
				  .io_count = 1,
				  .max_reverse_hops = 2};
	assert_names_fault(fabric, &other, "must list 0x000000000090");
	other.io_count = 0;
	struct hd_routes *routes = route_policy("dmodk", "", fabric, &other);
	assert_clean(fabric, routes);
	hd_routes_free(routes);
	hd_routes_free(last);
	hd_fabric_free(fabric);
}

/* Property: hosts in guid_routing_order_file go first, in its order: on a leaf below two spines
 * the first two listed get a spine each whatever their canonical order; others follow. */
static void order_guids_go_first(void **state)
{
	static const char *const engines[] = {"spf", "updown", "dmodk"};

	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=4,2 parents=1,2");
	for (unsigned engine = 0; engine < 3; engine++) {
		struct hd_routes *plain = route(engines[engine], "", fabric);
		for (uint32_t first = 0; first < 4; first++) {
			for (uint32_t second = 0; second < 4; second++) {
				uint64_t guids[2] = {host_guid(fabric, first),
						     host_guid(fabric, second) + 1};
				struct hd_policy policy = {.order_guids = guids, .order_count = 2};
				if (first == second)
					continue;
				struct hd_routes *routes =
				    route_policy(engines[engine], "", fabric, &policy);
				uint8_t one = hd_routes_port(routes, 1, host_lid(fabric, first));
				uint8_t two = hd_routes_port(routes, 1, host_lid(fabric, second));
				assert_clean(fabric, routes);
				assert_int_not_equal(one, two);
				assert_int_equal(one,
						 hd_routes_port(plain, 1, host_lid(fabric, 0)));
				if (first == 2 && second == 0)
					assert_true(hd_routes_count_changes(plain, routes) > 0);
				hd_routes_free(routes);
			}
		}
		hd_routes_free(plain);
	}
	hd_fabric_free(fabric);
}

/* Property: a hop weight makes leaving by that port dear, and that direction only. */
static void hop_weights_turn_one_direction(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4 hosts=1");
	uint32_t link = fabric->isl_base[0], far = fabric->isl_to[link];
	struct hd_port_ref weight = {
	    .node_guid = fabric->node_guid[0], .port = fabric->isl_port[link], .value = 5};
	struct hd_policy policy = {.hop_weights = &weight, .hop_weight_count = 1};
	struct hd_routes *plain = route("spf", "", fabric);
	struct hd_routes *routes = route_policy("spf", "", fabric, &policy);
	uint32_t there = host_lid(fabric, fabric->host_base[far]), back = host_lid(fabric, 0);
	assert_int_equal(link_taken(fabric, plain, 0, there), link);
	assert_int_not_equal(link_taken(fabric, routes, 0, there), link);
	assert_true(arrives(fabric, routes, 0, there));
	assert_int_equal(link_taken(fabric, routes, far, back), fabric->isl_reverse[link]);
	hd_routes_free(plain);
	hd_routes_free(routes);
	weight.value = 3; /* as dear as the way round: both are shortest */
	routes = route_policy("spf", "", fabric, &policy);
	assert_true(arrives(fabric, routes, 0, there));
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: weights out of 1..255 are refused with their place, not cut. */
static void bad_weights_are_refused(void **state)
{
	static const uint32_t values[] = {0, 256};

	(void)state;
	struct hd_fabric *fabric = generate("torus", "dims=4 hosts=1");
	for (unsigned i = 0; i < 2; i++) {
		struct hd_port_ref weight = {
		    .node_guid = fabric->node_guid[0], .port = 2, .value = values[i]};
		struct hd_policy policy = {.hop_weights = &weight, .hop_weight_count = 1};
		struct hd_routes *routes = NULL;
		struct hd_error err = {""};
		assert_int_equal(
		    route_try("spf", "",
			      &(struct hd_route_request){.fabric = fabric, .policy = &policy},
			      &routes, &err),
		    -EINVAL);
		assert_non_null(strstr(err.text, "1..255"));
		assert_non_null(strstr(err.text, "port 2"));
	}
	hd_fabric_free(fabric);
}

/* Property: a port of port_prof_ignore_file seems empty for ever: with the ports of one spine
 * ignored everything between two leaves goes by that spine but the first host, which finds the
 * other one empty too; else half of it. */
static void ignored_ports_have_no_load(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=4,2 parents=1,2");
	uint32_t spine = 3;
	assert_int_equal(level_named(fabric, spine), 2);
	struct hd_port_ref ports[2] = {{.node_guid = fabric->node_guid[spine], .port = 1},
				       {.node_guid = fabric->node_guid[spine], .port = 2}};
	struct hd_policy policy = {.ignored_ports = ports, .ignored_port_count = 2};
	static const char *const engines[] = {"spf", "updown", "dmodk"};
	for (unsigned engine = 0; engine < 3; engine++) {
		struct hd_routes *plain = route(engines[engine], "", fabric);
		struct hd_routes *routes = route_policy(engines[engine], "", fabric, &policy);
		unsigned by_plain = 0, by_policy = 0;
		assert_clean(fabric, routes);
		for (uint32_t host = 0; host < 4; host++) {
			uint32_t lid = host_lid(fabric, host);
			by_plain += fabric->isl_to[link_taken(fabric, plain, 1, lid)] == spine;
			by_policy += fabric->isl_to[link_taken(fabric, routes, 1, lid)] == spine;
		}
		assert_int_equal(by_plain, 2);
		assert_int_equal(by_policy, 3);
		hd_routes_free(plain);
		hd_routes_free(routes);
	}
	hd_fabric_free(fabric);
}

/* Property: a GUID that is not in the fabric is worth a remark and changes nothing. */
static void unknown_guids_are_remarked(void **state)
{
	static const char *const engines[] = {"spf", "updown", "dmodk"};
	static const char *const lists[] = {"cn_guid_file", "io_guid_file", "root_guid_file",
					    "guid_routing_order_file", "port_prof_ignore_file"};
	uint64_t guid = 0xdeadbeef;
	struct hd_port_ref ref = {.node_guid = guid, .port = 1, .value = 7};
	struct hd_policy policy = {.order_guids = &guid,
				   .order_count = 1,
				   .root_guids = &guid,
				   .root_count = 1,
				   .hop_weights = &ref,
				   .hop_weight_count = 1,
				   .ignored_ports = &ref,
				   .ignored_port_count = 1};

	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=2,2,3 parents=1,2,2");
	uint64_t *all = calloc(fabric->host_count + 1, sizeof(*all));
	all[fabric->host_count] = guid;
	for (uint32_t host = 0; host < fabric->host_count; host++)
		all[host] = host_guid(fabric, host);
	policy.cn_guids = policy.io_guids = all;
	policy.cn_count = policy.io_count = fabric->host_count + 1;
	for (unsigned engine = 0; engine < 3; engine++) {
		struct remarks remarks = {""};
		struct hd_log log = {.write = remark, .context = &remarks};
		struct hd_routes *plain = route(engines[engine], "", fabric);
		struct hd_routes *routes = route_request(
		    engines[engine], "",
		    &(struct hd_route_request){.fabric = fabric, .policy = &policy, .log = &log});
		for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
			if (!strstr(remarks.text, lists[i]))
				fail_msg("%s says nothing of %s: %s", engines[engine], lists[i],
					 remarks.text);
		assert_non_null(strstr(remarks.text, "0x00000000deadbeef"));
		assert_clean(fabric, routes);
		assert_int_equal(max_flows(fabric, routes), max_flows(fabric, plain));
		if (engine < 2)
			assert_int_equal(hd_routes_count_changes(plain, routes), 0);
		hd_routes_free(plain);
		hd_routes_free(routes);
	}
	free(all);
	hd_fabric_free(fabric);
}

/* Everything that a policy can say about a tree of two levels. */
struct full_policy {
	uint64_t roots[2], hosts[4];
	struct hd_port_ref ref;
	struct hd_policy policy;
};

static void fill_policy(struct full_policy *full, const struct hd_fabric *fabric)
{
	uint32_t roots = 0;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level_named(fabric, sw) == 2)
			full->roots[roots++] = fabric->node_guid[sw];
	for (uint32_t host = 0; host < 4; host++)
		full->hosts[host] = host_guid(fabric, host);
	full->ref = (struct hd_port_ref){.node_guid = fabric->node_guid[0], .port = 3, .value = 2};
	full->policy = (struct hd_policy){.root_guids = full->roots,
					  .root_count = roots,
					  .cn_guids = full->hosts,
					  .cn_count = 4,
					  .io_guids = full->hosts + 3,
					  .io_count = 1,
					  .order_guids = full->hosts + 1,
					  .order_count = 3,
					  .hop_weights = &full->ref,
					  .hop_weight_count = 1,
					  .ignored_ports = &full->ref,
					  .ignored_port_count = 1,
					  .max_reverse_hops = 1};
}

/* The policy that one option says. */
static struct hd_policy only(const struct hd_policy *full, const struct hd_policy_option *option)
{
	bool hops = !strcmp(option->name, "max_reverse_hops");
	enum hd_policy_file file = hops ? HD_POLICY_FILES : option->file;

	return (struct hd_policy){
	    .root_guids = full->root_guids,
	    .root_count = file == HD_POLICY_ROOTS ? full->root_count : 0,
	    .cn_guids = full->cn_guids,
	    .cn_count = file == HD_POLICY_COMPUTE_NODES ? full->cn_count : 0,
	    .io_guids = full->io_guids,
	    .io_count = file == HD_POLICY_IO_NODES ? full->io_count : 0,
	    .order_guids = full->order_guids,
	    .order_count = file == HD_POLICY_ORDER ? full->order_count : 0,
	    .hop_weights = full->hop_weights,
	    .hop_weight_count = file == HD_POLICY_HOP_WEIGHTS ? full->hop_weight_count : 0,
	    .ignored_ports = full->ignored_ports,
	    .ignored_port_count = file == HD_POLICY_IGNORED_PORTS ? full->ignored_port_count : 0,
	    .max_reverse_hops = hops ? full->max_reverse_hops : 0};
}

static void check_option(const struct hd_engine *engine, const struct hd_fabric *fabric,
			 const struct hd_policy_option *option, const struct hd_policy *full)
{
	struct hd_policy policy = only(full, option);
	struct remarks remarks = {""};
	struct hd_log log = {.write = remark, .context = &remarks};
	struct hd_routes *plain = route(engine->name, "", fabric);
	struct hd_routes *routes = route_request(
	    engine->name, "",
	    &(struct hd_route_request){.fabric = fabric, .policy = &policy, .log = &log});
	char ignores[64];

	snprintf(ignores, sizeof(ignores), "%s ignores %s", engine->name, option->name);
	if (!strstr(remarks.text, ignores) != !!(engine->policies & HD_POLICY_BIT(option->file)))
		fail_msg("%s with %s: '%s'", engine->name, option->name, remarks.text);
	if (!(engine->policies & HD_POLICY_BIT(option->file)) && !hd_routes_equal(plain, routes))
		fail_msg("%s does not ignore %s", engine->name, option->name);
	hd_routes_free(plain);
	hd_routes_free(routes);
}

/* Property: an engine logs each option that it ignores, and no other one; and an option that it
 * ignores changes no entry. */
static void ignored_options_are_logged_and_ignored(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,3 parents=1,2");
	struct full_policy full;
	unsigned engines, options;

	(void)state;
	fill_policy(&full, fabric);
	const struct hd_engine *const *engine = hd_engines(&engines);
	const struct hd_policy_option *option = hd_policy_options(&options);
	for (unsigned i = 0; i < engines; i++)
		for (unsigned j = 0; j < options && !engine[i]->needs_grid; j++)
			check_option(engine[i], fabric, &option[j], &full.policy);
	hd_fabric_free(fabric);
}

/* Property: every engine says that it ignores connect_roots, since roots are always connected. */
static void connect_roots_is_logged(void **state)
{
	struct hd_fabric *fabric = generate("xgft", "children=2,2 parents=1,2");
	struct hd_policy policy = {.connect_roots = true};
	unsigned engines;

	(void)state;
	const struct hd_engine *const *engine = hd_engines(&engines);
	for (unsigned i = 0; i < engines; i++) {
		struct remarks remarks = {""};
		struct hd_log log = {.write = remark, .context = &remarks};
		if (engine[i]->needs_grid)
			continue;
		hd_routes_free(route_request(
		    engine[i]->name, "",
		    &(struct hd_route_request){.fabric = fabric, .policy = &policy, .log = &log}));
		assert_non_null(strstr(remarks.text, "ignores connect_roots"));
	}
	hd_fabric_free(fabric);
}

/* Property: without cn_guids all hosts but the I/O nodes are compute nodes. So the I/O nodes of one leaf do not share a
 * link, wherever they stand among its hosts. */
static void io_nodes_are_balanced_apart(void **state)
{
	static const char *const engines[] = {"updown", "dmodk"};

	(void)state;
	for (uint32_t first = 0; first < 4; first++) {
		struct hd_fabric *fabric = generate("xgft", "children=4,4 parents=1,2");
		const uint32_t hosts[] = {first, (first + 2) % 4};
		const uint64_t io[] = {host_guid(fabric, hosts[0]), host_guid(fabric, hosts[1])};
		struct hd_policy policy = {.io_guids = io, .io_count = 2};

		for (unsigned i = 0; i < 2; i++) {
			struct hd_routes *routes = route_policy(engines[i], "", fabric, &policy);

			for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
				if (sw != fabric->host_switch[first] && hd_has_hosts(fabric, sw))
					assert_int_not_equal(
					    hd_routes_port(routes, sw, host_lid(fabric, hosts[0])),
					    hd_routes_port(routes, sw, host_lid(fabric, hosts[1])));
			hd_routes_free(routes);
		}
		hd_fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(io_nodes_are_balanced_apart),
	    cmocka_unit_test(roots_and_compute_nodes_make_a_tree),
	    cmocka_unit_test(root_guids_turn_updown),
	    cmocka_unit_test(compute_nodes_are_balanced_apart),
	    cmocka_unit_test(io_nodes_take_reverse_hops),
	    cmocka_unit_test(order_guids_go_first),
	    cmocka_unit_test(hop_weights_turn_one_direction),
	    cmocka_unit_test(bad_weights_are_refused),
	    cmocka_unit_test(ignored_ports_have_no_load),
	    cmocka_unit_test(unknown_guids_are_remarked),
	    cmocka_unit_test(ignored_options_are_logged_and_ignored),
	    cmocka_unit_test(connect_roots_is_logged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
