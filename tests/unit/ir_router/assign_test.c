/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ISSR: equal shares for all router ports, useful backups, and lines that stay. */
#include "ir_testing.h"

#include <heddle/base/random.h>

#define ROUTER(i) (UINT64_C(0x400000) + 256 * (i))
#define PORTS_MAX 200u

static void count_first(const struct hd_map *map, const bool *usable, uint32_t *count)
{
	for (uint32_t i = 0; i < map->gid_count; i++) {
		struct hd_map_answer answer;
		assert_true(hd_map_resolve(map, &map->lines[i].gid, usable, &answer));
		count[answer.port]++;
	}
}

/* Property: the first destinations get the ports in the order of Code 1: the first port of each
 * router, then the second ports. */
static void the_order_of_code_1(void **state)
{
	struct scene scene;
	struct hd_map *map = NULL;

	(void)state;
	scene_generate(&scene, 2, "");
	scene_join(&scene);
	CHECK(hd_issr_map(scene.interconnect, 0, NULL, &map, NULL, &err));
	for (uint32_t i = 0; i < 72; i++) {
		struct hd_gid gid = {PREFIX + 1, UINT64_C(0x100001) + 16 * (72 + i)};
		struct hd_map_answer answer;
		assert_true(hd_map_resolve(map, &gid, NULL, &answer));
		assert_int_equal(map->lines[answer.line].length, HD_MAP_GID);
		assert_int_equal(answer.port_guid, ROUTER(i % 12) + 1 + i / 12);
	}
	hd_map_free(map);
	scene_release(&scene);
}

/* ---- random requests ---- */

struct random_request {
	struct hd_assign_request request;
	struct hd_assign_port ports[PORTS_MAX];
	struct hd_assign_destination destinations[1000];
};

static void draw(struct random_request *drawn, uint64_t *random)
{
	uint32_t routers = 1 + (uint32_t)hd_random_below(random, 8), place = 0;

	*drawn =
	    (struct random_request){.request = {.ports = drawn->ports,
						.destinations = drawn->destinations,
						.backups = (unsigned)hd_random_below(random, 5),
						.defaults = true}};
	for (; place < 6; place++)
		for (uint32_t router = 0; router < routers; router++)
			if (!place || hd_random_below(random, 3))
				drawn->ports[drawn->request.port_count++] =
				    (struct hd_assign_port){256 * router + place + 1, router + 1};
	drawn->request.destination_count = 1 + (uint32_t)hd_random_below(random, 1000);
	for (uint32_t i = 0; i < drawn->request.destination_count; i++)
		drawn->destinations[i] =
		    (struct hd_assign_destination){{PREFIX, 1 + 7 * i}, 0, HD_NONE};
}

/* Property: on random sets of routers the shares of any two ports differ by 1 at most, and a line
 * has as many different ports as it can, the first backups on other routers. */
static void equal_shares(void **state)
{
	uint64_t random = 3;
	static struct random_request drawn;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct hd_assign_report report;
		struct hd_map *map = NULL;
		draw(&drawn, &random);
		CHECK(hd_assign(&drawn.request, &map, &report, &err));
		assert_true(report.most - report.fewest <= 1);
		assert_int_equal(report.destinations, drawn.request.destination_count);
		assert_int_equal(map->default_count, drawn.request.port_count);
		uint32_t ports = drawn.request.port_count;
		uint32_t wanted = drawn.request.backups + 1;
		for (uint32_t i = 0; i < map->gid_count; i++) {
			const struct hd_map_line *line = &map->lines[i];
			assert_int_equal(line->port_count, wanted < ports ? wanted : ports);
			if (line->port_count > 1 && drawn.ports[ports - 1].router > 1)
				assert_true(map->port_guid[map->choices[line->first]] / 256 !=
					    map->port_guid[map->choices[line->first + 1]] / 256);
		}
		hd_map_free(map);
	}
}

/* Property: if a router dies, its destinations spread over all other routers, and the others stay. */
static void a_router_dies(void **state)
{
	struct scene scene;
	struct hd_map *map = NULL;
	bool usable[72];
	uint32_t before[72] = {0}, after[72] = {0}, by_router[12] = {0};

	(void)state;
	scene_generate(&scene, 6, "");
	scene_join(&scene);
	CHECK(hd_issr_map(scene.interconnect, 0, NULL, &map, NULL, &err));
	assert_int_equal(map->port_count, 72);
	for (uint32_t port = 0; port < 72; port++)
		usable[port] = map->port_guid[port] >> 8 != ROUTER(4) >> 8;
	count_first(map, NULL, before);
	count_first(map, usable, after);
	for (uint32_t port = 0; port < 72; port++) {
		uint32_t router = (uint32_t)((map->port_guid[port] - 0x400000) >> 8);
		assert_int_equal(before[port], 5);
		assert_true(usable[port] ? after[port] >= 5 : !after[port]);
		by_router[router] += after[port];
	}
	for (uint32_t router = 0; router < 12; router++)
		assert_in_range(by_router[router], router == 4 ? 0 : 30 + 2,
				router == 4 ? 0 : 30 + 3);
	hd_map_free(map);
	scene_release(&scene);
}

/* Property: with the map in place given, all its lines stay though ports and hosts come and go, and
 * new destinations even out the shares. */
static void lines_stay(void **state)
{
	struct scene scene;
	struct hd_map *first = NULL, *second = NULL, *third = NULL;
	struct hd_map_difference *list = NULL;
	uint32_t count = 1;
	struct hd_assign_report report;

	(void)state;
	scene_generate(&scene, 3, "");
	scene_join(&scene);
	CHECK(hd_issr_map(scene.interconnect, 0, NULL, &first, NULL, &err));
	scene_damage(&scene, 0, ROUTER(7), 2); /* a port of subnet 0 */
	scene_damage(&scene, 1, UINT64_C(0x100000) + 16 * 75, 1); /* a host of subnet 1 */
	scene_join(&scene);
	const struct hd_map_options keep = {.backups = 2, .previous = first};
	CHECK(hd_issr_map(scene.interconnect, 0, &keep, &second, &report, &err));
	assert_int_equal(report.kept, 143);
	CHECK(hd_map_compare(first, second, &list, &count, &err));
	assert_int_equal(count, 2); /* the line of the host, and the * line of the port */
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(list[i].after, HD_NONE);
	free(list);
	hd_fabric_free(scene.fabrics[0]);
	hd_fabric_free(scene.fabrics[1]);
	scene.fabrics[0] = generate("interconnect", "subnets=3 part=1");
	scene.fabrics[1] = generate("interconnect", "subnets=3 part=2");
	scene_join(&scene);
	const struct hd_map_options again = {.backups = 2, .previous = second};
	CHECK(hd_issr_map(scene.interconnect, 0, &again, &third, &report, &err));
	assert_int_equal(report.most, 2);
	assert_int_equal(report.fewest, 2);
	hd_map_free(first);
	hd_map_free(second);
	hd_map_free(third);
	scene_release(&scene);
}

/* Property: a subnet without routers has no map, and says so. */
static void no_router(void **state)
{
	struct scene scene;
	struct hd_map *map = NULL;
	struct hd_error err = {""};

	(void)state;
	scene_generate(&scene, 2, "routers=0");
	scene_join(&scene);
	assert_int_equal(hd_issr_map(scene.interconnect, 0, NULL, &map, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no router port"));
	scene_release(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_order_of_code_1), cmocka_unit_test(equal_shares),
	    cmocka_unit_test(a_router_dies),	   cmocka_unit_test(lines_stay),
	    cmocka_unit_test(no_router),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
