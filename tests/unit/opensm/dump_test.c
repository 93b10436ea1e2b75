/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dumps of one routing replace those of another together or not at all, and one line of the log
 * says why they cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump.h"
#include "generate_testing.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"

#include <heddle/engines.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 96
#define FILE_COUNT 3

static const char *const names[FILE_COUNT] = {"heddle-fabric.topo", "heddle-lfts.dump",
					      "heddle-sls.dump"};
static struct opensm_log sink = {.threshold = HD_LOG_INFO};

struct dumping {
	char folder[PATH_SIZE / 2];
	struct routing small, large;
	int fault;
};

static struct routing routed(const char *options)
{
	struct routing routing = {.fabric = generate("xgft", options)};
	const struct hd_policy policy = {0};
	const struct hd_engine *engine = hd_engine_find("dmodk");
	struct hd_options *defaults = hd_engine_options(engine);

	assert_int_equal(hd_engine_route(engine,
					 &(struct hd_route_request){.fabric = routing.fabric,
								    .options = defaults,
								    .policy = &policy},
					 &routing.routes, NULL),
			 0);
	hd_options_free(defaults);
	return routing;
}

static int enter(void **state)
{
	struct dumping *dumping = calloc(1, sizeof(*dumping));

	if (!dumping)
		return -1;
	snprintf(dumping->folder, sizeof(dumping->folder), "/tmp/heddle-dump-XXXXXX");
	assert_non_null(mkdtemp(dumping->folder));
	dumping->small = routed("children=2,2 parents=1,2");
	dumping->large = routed("children=6,6 parents=1,6");
	logged[0] = '\0';
	*state = dumping;
	return 0;
}

static void release(struct routing *routing)
{
	hd_routes_free(routing->routes);
	hd_fabric_free(routing->fabric);
}

static const char *path_of(const struct dumping *dumping, unsigned file, const char *ending)
{
	static char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s%s", dumping->folder, names[file], ending);
	return path;
}

static int leave(void **state)
{
	struct dumping *dumping = *state;

	for (unsigned i = 0; i < FILE_COUNT; i++)
		unlink(path_of(dumping, i, ""));
	assert_int_equal(rmdir(dumping->folder), 0); /* nothing else is left */
	release(&dumping->small);
	release(&dumping->large);
	free(dumping);
	return 0;
}

static void dump(struct dumping *dumping, const struct routing *routing)
{
	dump_write(routing, dumping->folder, &sink, &dumping->fault);
	for (unsigned i = 0; i < FILE_COUNT; i++)
		assert_int_equal(access(path_of(dumping, i, ".new"), F_OK), -1);
}

static void read_sizes(const struct dumping *dumping, off_t sizes[FILE_COUNT])
{
	struct stat facts;

	for (unsigned i = 0; i < FILE_COUNT; i++) {
		assert_int_equal(stat(path_of(dumping, i, ""), &facts), 0);
		sizes[i] = facts.st_size;
	}
}

static unsigned count_errors(void)
{
	unsigned count = 0;

	for (const char *at = logged; (at = strstr(at, "ERR HD07")); at++)
		count++;
	return count;
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* At a limit of file sizes that only the tables exceed, all three old files stay. */
static void the_last_good_dumps_stay(void **state)
{
	struct dumping *dumping = *state;
	off_t small[FILE_COUNT], large[FILE_COUNT], now[FILE_COUNT];

	dump(dumping, &dumping->large);
	read_sizes(dumping, large);
	dump(dumping, &dumping->small);
	read_sizes(dumping, small);
	assert_int_equal(count_errors(), 0);
	assert_true(large[1] > large[0] && large[0] > small[0] && large[1] > small[1]);
	signal(SIGXFSZ, SIG_IGN);
	limit_files((rlim_t)large[1] - 1);
	dump(dumping, &dumping->large);
	read_sizes(dumping, now);
	assert_memory_equal(now, small, sizeof(now));
	limit_files(RLIM_INFINITY);
	assert_int_equal(count_errors(), 1);
	assert_logged("heddle-lfts.dump");
	dump(dumping, &dumping->large);
	read_sizes(dumping, now);
	assert_memory_equal(now, large, sizeof(now));
}

/* The same fault is logged once; another one, and one after a success, again. */
static void a_fault_is_logged_once(void **state)
{
	struct dumping *dumping = *state;

	signal(SIGXFSZ, SIG_IGN);
	for (unsigned round = 1; round <= 2; round++) {
		limit_files(1);
		for (unsigned sweep = 0; sweep < 3; sweep++)
			dump(dumping, &dumping->small);
		limit_files(RLIM_INFINITY);
		assert_int_equal(count_errors(), round);
		dump(dumping, &dumping->small);
	}
	dump_write(&dumping->small, "/no/such/folder", &sink, &dumping->fault);
	limit_files(1);
	dump(dumping, &dumping->small);
	limit_files(RLIM_INFINITY);
	assert_int_equal(count_errors(), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(the_last_good_dumps_stay, enter, leave),
	    cmocka_unit_test_setup_teardown(a_fault_is_logged_once, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
