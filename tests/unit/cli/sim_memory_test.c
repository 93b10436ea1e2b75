/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page about a scenario, and its kept runs, with each allocation failing in turn. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "short_memory.h"
#include "sim_view.h"

static const char text[] = "[scenario]\ntitle = small\n"
			   "[fabric]\ngenerator = xgft\nchildren = 2,2\nparents = 1,1\n"
			   "[traffic a]\nkind = constant\nrate = 30%\nsize = 256\nto = shift:1\n"
			   "[run]\nduration = 3 us\nbin = 1 us\n"
			   "[sweep load]\ntraffic.a.rate = 20% | 40%\n"
			   "[sweep lanes]\nmodel.lanes = 1 | 2\n"
			   "[expect x]\nfigure = class.a.throughput\nvalue = 1\n";

#define RUNS 4

struct world {
	struct hd_scenario *scenario;
	struct hd_scenario_runs *runs;
	struct hd_record *records[RUNS];
	struct sim_runs job;
	char *kept; /* the records in the form of the file */
	size_t length;
	FILE *page;
	struct hd_record *read[RUNS];
};

static void begin(struct world *world)
{
	const struct hd_text file = {.bytes = text, .length = strlen(text), .name = "file"};
	const struct hd_scenario_request request = {.seed = 1, .threads = 1};

	memset(world, 0, sizeof(*world));
	assert_int_equal(hd_scenario_parse(&file, &world->scenario, NULL), 0);
	assert_int_equal(hd_scenario_prepare(world->scenario, &request, &world->runs, NULL), 0);
	assert_int_equal(world->runs->count, RUNS);
	FILE *stream = open_memstream(&world->kept, &world->length);
	for (uint32_t run = 0; run < RUNS; run++) {
		assert_int_equal(
		    hd_scenario_run(world->runs, run, NULL, &world->records[run], NULL), 0);
		hd_record_write(world->records[run], run, stream);
	}
	fclose(stream);
	world->job = (struct sim_runs){
	    .runs = world->runs, .title = "file", .records = world->records, .finished = RUNS};
	world->page = tmpfile();
	assert_non_null(world->page);
}

static void end(struct world *world)
{
	fclose(world->page);
	free(world->kept);
	for (uint32_t run = 0; run < RUNS; run++)
		hd_record_free(world->records[run]);
	hd_scenario_runs_free(world->runs);
	hd_scenario_free(world->scenario);
}

/* ---- the page ---- */

static int page_call(void *context, struct hd_error *err)
{
	struct world *world = context;
	struct sim_view view = {.hot = 2};
	int rc = sim_view_make(&world->job, &view, err);

	rewind(world->page);
	if (!rc && sim_html_section(&view, "s", "h2", world->page))
		rc = hd_error_no_memory(err);
	sim_view_release(&view);
	return rc;
}

static void page_settle(void *context, int rc)
{
	(void)context;
	(void)rc;
}

/* Property: a page with all charts and pictures, or an error. */
static void pages_are_complete(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	struct short_memory_case tried = {"page", &world, page_call, page_settle, 0};
	assert_true(short_memory_try(&tried) > 20);
	end(&world);
}

/* ---- kept runs ---- */

static int read_call(void *context, struct hd_error *err)
{
	struct world *world = context;
	const struct hd_text kept = {.bytes = world->kept, .length = world->length, .name = "kept"};
	size_t length;

	return sim_state_take(&kept, world->runs, world->read, &length, err);
}

static void read_settle(void *context, int rc)
{
	struct world *world = context;

	for (uint32_t run = 0; run < RUNS; run++) {
		assert_true(rc || world->read[run]);
		hd_record_free(world->read[run]);
		world->read[run] = NULL;
	}
}

/* Property: runs that cannot be read for want of memory are an error, and do not count as not done. */
static void kept_runs_are_read(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	struct short_memory_case tried = {"kept", &world, read_call, read_settle, 0};
	assert_true(short_memory_try(&tried) > 20);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pages_are_complete),
	    cmocka_unit_test(kept_runs_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
