/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MPI traces: what the reader takes and refuses, who the partners are, and what the ranks do. */
#include "traffic_testing.h"

#include "traffic_program.h"

#include <unistd.h>

static int read_text(struct hd_arena *arena, const char *text, struct program **program,
		     struct hd_error *err)
{
	return program_read(arena, text, strlen(text), "t", program, err);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
	    {"", "empty"},
	    {"# nothing\n", "t: no operation"},
	    {"wait\nsed x+1 4KiB\n", "t:2: unknown word, did you mean send?: 'sed x+1 4KiB'"},
	    {"frobnicate\n", "t:1: unknown word"},
	    {"wait 3\n", "t:1: too many words"},
	    {"send x+1 4KiB\n", "t:1: the grid has no axis x"},
	    {"grid 2 2\nsend z+1 4KiB\n", "t:2: the grid has no axis z"},
	    {"grid 2 2\nsend x1 4KiB\n", "t:2: expected a partner"},
	    {"send +1\n", "t:1: expected a size"},
	    {"send +1 0\n", "t:1: a message has at least 1 byte"},
	    {"send +1 4 x\n", "t:1: expected a tag"},
	    {"send 70000 4\n", "t:1: expected a partner"},
	    {"calc 1\n", "t:1: '1': expected a time"},
	    {"calc 1ms 200%\n", "t:1: '200%' is too large"},
	    {"repeat 2\nwait\n", "t: the last block has no end"},
	    {"wait\nend\n", "t:2: no block is open"},
	    {"repeat\nwait\nend\n", "t:1: expected a number above 0"},
	    {"repeat 100000\nrepeat 100000\nwait\nend\nend\n", "t:2: more than 100000000 turns"},
	    {"only 3-1\nwait\nend\n", "t:1: '3-1' is no list of ranks"},
	    {"only 1,\nwait\nend\n", "t:1: '1,' is no list of ranks"},
	    {"only 1\nbarrier\nend\n", "t:2: all ranks must take part"},
	    {"only 1\nRODRequest a\nend\n", "t:2: all ranks must take part"},
	    {"RODRequest a\nwait\n", "t: RODDone a is missing"},
	    {"RODRequest a\nRODRequest b\n", "t:2: RODDone a is missing before"},
	    {"RODDone a\n", "t:1: there is no open RODRequest"},
	    {"repeat 2\nRODRequest a\nend\nRODDone a\n", "t:3: RODDone is missing before the end"},
	    {"RODRequest a\nrepeat 2\nRODDone a\nend\n", "t:3: RODRequest is in another block"},
	    {"RODRequest a\nRODDone a\nRODRequest a\nRODDone a\n", "t:3: there are two keys"},
	    {"wait\nranks 4\n", "t:2: ranks and grid come once, before all operations"},
	    {"ranks 1\nwait\n", "t:1: expected 2 ranks or more"},
	    {"grid 2 3\ngrid 2 3\n", "t:2: ranks and grid come once"},
	    {"ranks 5\ngrid 2 3\n", "t:2: the grid has 6 places for 5 ranks"},
	    {"grid 2 3 4 5\n", "t:1: expected one to three sizes"},
	    {"grid\n", "t:1: the grid has 1 places"},
	    {"all-reduce\n", "t:1: expected a size"},
	    {"barrier 4\n", "t:1: too many words"},
	    {"broadcast 4 x\n", "t:1: expected a root"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_arena arena = {0};
		struct program *program = NULL;
		struct hd_error err = {""};
		int rc = read_text(&arena, cases[i].text, &program, &err);
		if (!rc || program || !strstr(err.text, cases[i].reason))
			fail_msg("'%s': %d '%s' does not say '%s'", cases[i].text, rc, err.text,
				 cases[i].reason);
		hd_arena_release(&arena);
	}
}

static void test_blocks_in_blocks(void **state)
{
	struct hd_arena arena = {0};
	struct program *program;
	char text[1024] = "";

	(void)state;
	for (int i = 0; i < 16; i++)
		strcat(text, "only 0\n");
	for (int i = 0; i < 16; i++)
		strcat(text, "end\n");
	assert_int_equal(read_text(&arena, text, &program, NULL), 0);
	assert_int_equal(program->operations[15].partner, 16);
	char deeper[1100] = "only 0\n";
	strcat(deeper, text);
	struct hd_error err = {""};
	assert_int_equal(read_text(&arena, deeper, &program, &err), -EINVAL);
	assert_non_null(strstr(err.text, "t:17: more than 16 blocks"));
	hd_arena_release(&arena);
}

/* The partner of rank 7 of 12 = 2 x 3 x 2 at (1, 0, 1). */
static void test_partners(void **state)
{
	static const struct {
		const char *peer;
		uint32_t closed, open;
	} cases[] = {
	    {"x+1", 1, HD_NONE}, {"x-1", 1, 1},
	    {"y+1", 9, 9},	 {"y-1", 11, HD_NONE},
	    {"y+2", 11, 11},	 {"z+1", 6, HD_NONE},
	    {"z-1", 6, 6},	 {"+1", 8, 8},
	    {"-8", 11, 11},	 {"+24", 7, 7},
	    {"^4", 3, 3},	 {"^8", HD_NONE, HD_NONE},
	    {"5", 5, 5},	 {"12", HD_NONE, HD_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int open = 0; open < 2; open++) {
			struct hd_arena arena = {0};
			struct program *program;
			char text[100];
			snprintf(text, sizeof(text), "grid 2 3 2 %s\nSend %s 4KiB 7",
				 open ? "open" : "", cases[i].peer);
			assert_int_equal(read_text(&arena, text, &program, NULL), 0);
			assert_int_equal(program->ranks, 12);
			assert_int_equal(program->operations[0].tag, 7);
			assert_int_equal(program_peer(program, &program->operations[0], 7, 12),
					 open ? cases[i].open : cases[i].closed);
			hd_arena_release(&arena);
		}
}

/* ---- on the simulator ---- */

static void run_trace(struct bench *bench, const char *text, const char *settings)
{
	char path[] = "/tmp/heddle-trace-XXXXXX", all[300];
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
	close(file);
	bench_begin(bench, "xgft", "children=3,3,3 parents=1,3,3", "dmodk", 1);
	snprintf(all, sizeof(all), "trace=file:%s;%s", path, settings);
	bench_add(bench, "t", "trace", all);
	bench_open(bench);
	unlink(path);
	bench_run(bench, 100 * HD_SIM_SECOND);
}

/* Calculation alone takes exactly its time. */
static void test_calculation(void **state)
{
	struct bench bench;

	(void)state;
	run_trace(&bench, "repeat 3\nrepeat 4\ncalc 1ms\nend\nend\nonly 2\ncalc 5us\nend\n", "");
	assert_int_equal(bench.end, HD_SIM_STOPPED);
	assert_near(figure(&bench, "t", "completion"), 12.005e-3, 0);
	assert_near(figure(&bench, "t", "communication"), 0, 0);
	assert_near(hd_traffic_progress(bench.traffic), 1, 1e-12);
	bench_end(&bench);
}

/* A ping-pong of blocking messages: a round trip is two message times. */
static void test_ping_pong(void **state)
{
	struct bench bench;

	(void)state;
	run_trace(&bench,
		  "ranks 2\nrepeat 10\nonly 0\nsend 1 64KiB\nrecv 1\nend\nonly 1\nrecv 0\nsend 0 "
		  "64KiB\nend\nend\n",
		  "placement=contiguous");
	assert_int_equal(bench.end, HD_SIM_STOPPED);
	assert_near(figure(&bench, "t", "messages"), 20, 0);
	/* 32 packets; a switch and two cables */
	assert_near(figure(&bench, "t", "completion"), 20 * (32 * 2074 * 8 / 40e9 + 0.3e-6), 1e-10);
	bench_end(&bench);
}

/* Messages that come before their receive wait for it, by tag. */
static void test_unexpected_messages(void **state)
{
	struct bench bench;

	(void)state;
	run_trace(&bench,
		  "ranks 2\nonly 0\nisend 1 8 1\nisend 1 8 2\nisend 1 8 3\nwait\nend\n"
		  "only 1\ncalc 1ms\nrecv 0 3\nrecv 0 1\nirecv 0 2\nwait\nend\nbarrier\n",
		  "");
	assert_int_equal(bench.end, HD_SIM_STOPPED);
	assert_near(figure(&bench, "t", "completion"), 1e-3, 3e-6);
	bench_end(&bench);
}

/* A receive without a send never ends: the simulation runs dry, and the figures say who waits. */
static void test_missing_send(void **state)
{
	struct bench bench;

	(void)state;
	run_trace(&bench, "ranks 4\nonly 2\nrecv 0 9\nend\n", "");
	assert_int_equal(bench.end, HD_SIM_IDLE);
	assert_near(figure(&bench, "t", "waiting"), 1, 0);
	bench_end(&bench);
}

static const char stencil[] = "grid 3 3 3\n"
			      "repeat 2\n"
			      "  calc 10us 20%\n"
			      "  RODRequest x\n"
			      "    irecv x-1\n"
			      "    isend x+1 128KiB\n"
			      "    wait\n"
			      "    barrier\n"
			      "  RODDone x\n"
			      "  RODRequest yz\n"
			      "    irecv y+1\n    isend y-1 128KiB\n    wait\n    barrier\n"
			      "  RODDone yz\n"
			      "  all-reduce 8\n"
			      "end\n";

/* Keys of a trace: the tables return, and phases of random placement are faster than without. */
static void test_keys_of_a_trace(void **state)
{
	double spent[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench bench;
		run_trace(&bench, stencil, i ? "placement=random;keys=nrk" : "placement=random");
		assert_int_equal(bench.end, HD_SIM_STOPPED);
		spent[i] = figure(&bench, "t", "communication");
		bench_end(&bench);
	}
	assert_true(spent[1] < 0.8 * spent[0]);
}

/* A trace for fewer ranks than there are hosts, several times at once. */
static void test_applications(void **state)
{
	struct bench bench;

	(void)state;
	run_trace(&bench, "grid 2 2 2\nirecv x-1\nisend x+1 4KiB\nwait\nall-to-all 100\n",
		  "applications=3");
	assert_int_equal(bench.end, HD_SIM_STOPPED);
	for (uint32_t a = 0; a < 3; a++)
		assert_near(figure_at(&bench, "t", "messages", a), 8 + 8 * 3, 0);
	bench_end(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_refused),	 cmocka_unit_test(test_blocks_in_blocks),
	    cmocka_unit_test(test_partners),	 cmocka_unit_test(test_calculation),
	    cmocka_unit_test(test_ping_pong),	 cmocka_unit_test(test_unexpected_messages),
	    cmocka_unit_test(test_missing_send), cmocka_unit_test(test_keys_of_a_trace),
	    cmocka_unit_test(test_applications),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
