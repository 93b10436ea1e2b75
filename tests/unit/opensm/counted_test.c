/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the performance manager's readings become: rates over one time for all ports, and sums of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counted.h"
#include "generated.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "status_counters.h"
#include "status_report.h"

#include <opensm/osm_event_plugin.h>

#define SECOND 1000.0 /* ms */
#define START 5000.0
#define LEAF 0 /* the first switch */

struct world {
	struct hd_fabric *fabric;
	struct counted counted;
};

static struct world begin(void)
{
	struct world world;

	assert_int_equal(generated_fabric("xgft", "children=2,2 parents=1,2", &world.fabric, NULL),
			 0);
	counted_init(&world.counted);
	return world;
}

static void end(struct world *world)
{
	counted_release(&world->counted);
	hd_fabric_free(world->fabric);
}

static osm_epi_port_id_t port_of(const struct world *world, uint8_t port)
{
	return (osm_epi_port_id_t){.node_guid = world->fabric->node_guid[LEAF], .port_num = port};
}

static void sent(struct world *world, uint8_t port, uint64_t words, time_t seconds, double now)
{
	const osm_epi_dc_event_t event = {.port_id = port_of(world, port),
					  .xmit_data = words,
					  .rcv_data = 2 * words,
					  .xmit_pkts = words / 10,
					  .rcv_pkts = words / 5,
					  .time_diff_s = seconds};

	counted_data(&world->counted, &event, now);
}

static void erred(struct world *world, uint8_t port, uint64_t symbols, uint64_t wait,
		  time_t seconds, double now)
{
	const osm_epi_pe_event_t event = {.port_id = port_of(world, port),
					  .symbol_err_cnt = symbols,
					  .vl15_dropped = 7,
					  .xmit_wait = wait,
					  .time_diff_s = seconds};

	counted_errors(&world->counted, &event, now);
}

static struct hd_counters *take(struct world *world, double now, struct counted_sums *sums)
{
	struct hd_counters *counters = NULL;

	assert_int_equal(counted_take(&world->counted, world->fabric, now, &counters, sums, NULL),
			 0);
	return counters;
}

static const struct hd_port_counters *row(const struct world *world,
					  const struct hd_counters *counters, uint32_t port)
{
	return &counters->ports[hd_port_index(world->fabric, LEAF, port)];
}

/* Property: a first reading says nothing, and the second one what was counted since. */
static void the_first_reading_starts(void **state)
{
	struct world world = begin();
	struct counted_sums sums;

	(void)state;
	sent(&world, 1, 1000000, 0, START);
	erred(&world, 1, 50, 9, 0, START);
	struct hd_counters *counters = take(&world, START, &sums);
	assert_int_equal(counters->ports_read, 0);
	assert_int_equal(sums.ports, 1);
	hd_counters_free(counters);
	sent(&world, 1, 300, 10, START + 10 * SECOND);
	erred(&world, 1, 2, 40, 10, START + 10 * SECOND);
	counters = take(&world, START + 11 * SECOND, &sums);
	const struct hd_port_counters *port = row(&world, counters, 1);
	assert_int_equal(counters->ports_read, 1);
	assert_true(counters->seconds == 10);
	assert_int_equal(port->value[HD_XMIT_DATA], 300);
	assert_int_equal(port->value[HD_RCV_DATA], 600);
	assert_int_equal(port->value[HD_XMIT_PACKETS], 30);
	assert_int_equal(port->value[HD_RCV_PACKETS], 60);
	assert_int_equal(port->value[HD_XMIT_WAIT], 40);
	assert_int_equal(port->value[HD_SYMBOL_ERRORS], 2);
	assert_int_equal(port->value[HD_VL15_DROPPED], 7);
	assert_false(port->known & HD_COUNTER_BIT(HD_QP1_DROPPED));
	assert_int_equal(row(&world, counters, 2)->known, 0);
	hd_counters_free(counters);
	end(&world);
}

/* Property: errors are added up, all else is that of the last time. */
static void errors_add_up(void **state)
{
	struct world world = begin();
	struct counted_sums sums;
	double now = START;

	(void)state;
	for (unsigned i = 0; i <= 3; i++, now += SECOND) {
		erred(&world, 1, 5, 100 + i, 1, now);
		erred(&world, 2, 1, 0, 1, now);
	}
	struct hd_counters *counters = take(&world, now, &sums);
	assert_int_equal(row(&world, counters, 1)->value[HD_SYMBOL_ERRORS], 15);
	assert_int_equal(row(&world, counters, 1)->value[HD_XMIT_WAIT], 103);
	assert_int_equal(row(&world, counters, 2)->value[HD_SYMBOL_ERRORS], 3);
	assert_int_equal(sums.errors[HD_SYMBOL_ERRORS], 18);
	assert_int_equal(sums.errors[HD_VL15_DROPPED], 42);
	assert_int_equal(sums.errors[HD_XMIT_WAIT], 0);
	hd_counters_free(counters);
	end(&world);
}

/* Property: ports that are read at other intervals are scaled to the median one. */
static void ports_have_one_time(void **state)
{
	struct world world = begin();
	struct counted_sums sums;

	(void)state;
	for (uint8_t port = 1; port <= 3; port++)
		sent(&world, port, 0, 0, START);
	sent(&world, 1, 1000, 10, START + 10 * SECOND);
	sent(&world, 2, 1000, 10, START + 10 * SECOND);
	sent(&world, 3, 1000, 20, START + 20 * SECOND);
	struct hd_counters *counters = take(&world, START + 20 * SECOND, &sums);
	assert_true(counters->seconds == 10);
	assert_int_equal(row(&world, counters, 1)->value[HD_XMIT_DATA], 1000);
	assert_int_equal(row(&world, counters, 3)->value[HD_XMIT_DATA], 500);
	hd_counters_free(counters);
	end(&world);
}

/* Property: where the performance manager began again, its figures are not those since the reading before; what was
 * known before stays. */
static void a_port_that_was_forgotten_begins_again(void **state)
{
	struct world world = begin();
	struct counted_sums sums;

	(void)state;
	sent(&world, 1, 0, 0, START);
	sent(&world, 1, 100, 10, START + 10 * SECOND);
	sent(&world, 1, 900000, 0, START + 30 * SECOND);
	struct hd_counters *counters = take(&world, START + 30 * SECOND, &sums);
	assert_int_equal(row(&world, counters, 1)->value[HD_XMIT_DATA], 100);
	hd_counters_free(counters);
	sent(&world, 1, 70, 10, START + 40 * SECOND);
	counters = take(&world, START + 40 * SECOND, &sums);
	assert_int_equal(row(&world, counters, 1)->value[HD_XMIT_DATA], 70);
	hd_counters_free(counters);
	end(&world);
}

/* Property: what has not been read for long is not known, and what is not in the fabric is left out. */
static void old_and_foreign_ports_are_left_out(void **state)
{
	struct world world = begin();
	struct counted_sums sums;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const double now = START + i * SECOND;
		const osm_epi_dc_event_t foreign = {.port_id = {.node_guid = 0xABC, .port_num = 1},
						    .time_diff_s = 1};
		sent(&world, 1, 10, 1, now);
		sent(&world, 200, 10, 1, now); /* no port of the switch */
		counted_data(&world.counted, &foreign, now);
	}
	struct hd_counters *counters = take(&world, START + 60 * SECOND, &sums);
	assert_int_equal(counters->ports_read, 1);
	assert_int_equal(sums.ports, 3);
	hd_counters_free(counters);
	counters = take(&world, START + 80 * SECOND, &sums);
	assert_int_equal(counters->ports_read, 0);
	hd_counters_free(counters);
	end(&world);
}

/* ---- status ---- */

static char *status_of(struct world *world, char **metrics)
{
	struct status_report report;
	struct status_answer answer;

	assert_int_equal(status_report_begin(&report, NULL), 0);
	status_counters_report(&world->counted, world->fabric, &report);
	assert_int_equal(status_report_end(&report, &answer, NULL), 0);
	*metrics = answer.metrics;
	return answer.json;
}

static void assert_status(struct world *world, const char *json_part, const char *metrics_part)
{
	char *metrics, *json = status_of(world, &metrics);

	if (!strstr(json, json_part) || !strstr(metrics, metrics_part))
		fail_msg("expected %s and %s in\n%s\n%s", json_part, metrics_part, json, metrics);
	free(json);
	free(metrics);
}

/* Property: the status names the busiest links and the ports with most errors. */
static void the_status_names_them(void **state)
{
	struct world world = begin();
	const double before = monotonic_ms() - 2 * SECOND;

	(void)state;
	assert_status(&world, "not read: perfmgr in opensm.conf", "");
	for (uint8_t port = 1; port <= 4; port++) {
		sent(&world, port, 0, 0, before);
		erred(&world, port, 0, 0, 0, before);
	}
	assert_status(&world, "no port was read twice of late", "");
	for (uint8_t port = 1; port <= 4; port++) {
		sent(&world, port, 1000, 1, before + SECOND);
		erred(&world, port, port == 2 ? 9 : 0, port == 3 ? 250000000 : 0, 1,
		      before + SECOND);
	}
	assert_status(&world, "\"ports\":4", "\nheddle_counted_ports 4\n");
	assert_status(&world, "\"busy_links\":1", "\nheddle_longest_wait_share 0.99");
	assert_status(&world, "'S1_0'[2]: 9 SymbolErrorCounter",
		      "\nheddle_port_errors_total{counter=\"SymbolErrorCounter\"} 9\n");
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_first_reading_starts),
	    cmocka_unit_test(errors_add_up),
	    cmocka_unit_test(ports_have_one_time),
	    cmocka_unit_test(a_port_that_was_forgotten_begins_again),
	    cmocka_unit_test(old_and_foreign_ports_are_left_out),
	    cmocka_unit_test(the_status_names_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
