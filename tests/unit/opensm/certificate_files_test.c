/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of a certificate: a program that shares no code with Heddle accepts them, they replace those of another
 * routing together or not at all, and files of others stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "certificate_files.h"
#include "generate_testing.h"
#include "opensm_headers.h"
#include "routing.h"
#include "verifier.h"

#include <errno.h>
#include <heddle/base/text.h>
#include <heddle/engines.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 96
#define LARGEST (1u << 24)

static const char *const endings[] = {"", ".topo", ".lfts", ".sls", ".far"};

#define ENDINGS (sizeof(endings) / sizeof(*endings))

struct place {
	char folder[PATH_SIZE / 2], path[PATH_SIZE];
	struct routing tree, torus; /* the torus has service levels */
};

static struct routing routed(const char *name, const char *kind, const char *settings)
{
	struct routing routing = {.fabric = generate(kind, settings)};
	const struct hd_policy policy = {0};
	const struct hd_engine *engine = hd_engine_find(name);
	struct hd_options *options = hd_engine_options(engine);

	assert_int_equal(hd_engine_route(engine,
					 &(struct hd_route_request){.fabric = routing.fabric,
								    .options = options,
								    .policy = &policy},
					 &routing.routes, NULL),
			 0);
	hd_options_free(options);
	return routing;
}

static const char *path_of(const struct place *place, const char *ending, const char *more)
{
	static char path[PATH_SIZE + 16];

	snprintf(path, sizeof(path), "%s%s%s", place->path, ending, more);
	return path;
}

static int enter(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return -1;
	snprintf(place->folder, sizeof(place->folder), "/tmp/heddle-certificate-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "%s/proof", place->folder);
	place->tree = routed("dmodk", "xgft", "children=3,3 parents=1,3");
	place->torus = routed("spf", "torus", "dims=5,5 hosts=1");
	assert_true(!place->tree.routes->sl && place->torus.routes->sl);
	*state = place;
	return 0;
}

static void release(struct routing *routing)
{
	hd_routes_free(routing->routes);
	hd_fabric_free(routing->fabric);
}

static int leave(void **state)
{
	struct place *place = *state;

	for (unsigned i = 0; i < ENDINGS; i++)
		unlink(path_of(place, endings[i], ""));
	assert_int_equal(rmdir(place->folder), 0); /* nothing else is left */
	release(&place->tree);
	release(&place->torus);
	free(place);
	return 0;
}

static int write_of(const struct place *place, const struct routing *routing, bool tables,
		    struct hd_error *err)
{
	const struct certificate_request request = {.routing = routing,
						    .path = place->path,
						    .made =
							"2026-11-28T12:00:00.000Z sweep 1 change 0",
						    .tables = tables};
	int rc = certificate_write(&request, err);

	for (unsigned i = 0; i < ENDINGS; i++)
		assert_int_equal(access(path_of(place, endings[i], ".new"), F_OK), -1);
	return rc;
}

/* 0: proved. */
static int verify(const struct place *place)
{
	static const char *const by_file[VERIFIER_FILES] = {[VERIFIER_CERTIFICATE] = "",
							    [VERIFIER_TOPOLOGY] = ".topo",
							    [VERIFIER_TABLES] = ".lfts",
							    [VERIFIER_LEVELS] = ".sls"};
	struct hd_text texts[VERIFIER_FILES] = {{0}};
	struct verifier_text files[VERIFIER_FILES] = {{0}};
	const char *reason;

	for (unsigned i = 0; i < VERIFIER_FILES; i++)
		if (by_file[i] &&
		    !hd_text_open_regular(path_of(place, by_file[i], ""), LARGEST, &texts[i], NULL))
			files[i] = (struct verifier_text){texts[i].bytes, texts[i].length};
	int status = verifier_run(files, &reason);
	for (unsigned i = 0; i < VERIFIER_FILES; i++)
		if (files[i].bytes)
			hd_text_close(&texts[i]);
	return status;
}

static void put(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static off_t size_of(const char *path)
{
	struct stat facts;

	return stat(path, &facts) ? -1 : facts.st_size;
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Property: what is written is proved by itself, and everyone may read it. Service levels go when a routing has none. */
static void the_files_prove_each_other(void **state)
{
	const struct place *place = *state;
	const mode_t mask = umask(077);
	struct stat facts;

	assert_int_equal(write_of(place, &place->torus, true, NULL), 0);
	assert_int_equal(verify(place), 0);
	assert_true(size_of(path_of(place, ".sls", "")) > 0);
	assert_int_equal(stat(place->path, &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0644);
	assert_int_equal(write_of(place, &place->tree, true, NULL), 0);
	assert_int_equal(verify(place), 0);
	assert_int_equal(size_of(path_of(place, ".sls", "")), -1);
	umask(mask);
}

/* Property: without `tables` nothing happens to files that have the names of tables. */
static void files_of_others_stay(void **state)
{
	const struct place *place = *state;

	for (unsigned i = 1; i < ENDINGS; i++)
		put(path_of(place, endings[i], ""), "of another");
	assert_int_equal(write_of(place, &place->tree, false, NULL), 0);
	assert_true(size_of(place->path) > 0);
	for (unsigned i = 1; i < ENDINGS; i++)
		assert_int_equal(size_of(path_of(place, endings[i], "")),
				 strcmp(endings[i], ".sls") ? (off_t)strlen("of another") : -1);
	assert_int_equal(write_of(place, &place->tree, true, NULL), 0);
	assert_int_equal(verify(place), 0);
	assert_int_equal(size_of(path_of(place, ".far", "")), -1); /* of an earlier plan */
}

/* Property: wherever the disk is full, all old files stay, and the reason names a file. */
static void the_last_good_files_stay(void **state)
{
	const struct place *place = *state;
	struct hd_error err;
	off_t before;

	assert_int_equal(write_of(place, &place->torus, true, NULL), 0);
	const off_t most = size_of(path_of(place, ".topo", ""));
	assert_int_equal(write_of(place, &place->tree, true, NULL), 0);
	before = size_of(place->path);
	signal(SIGXFSZ, SIG_IGN);
	for (off_t limit = 1; limit < most; limit += most / 20 + 1) {
		limit_files((rlim_t)limit);
		const int rc = write_of(place, &place->torus, true, &err);
		limit_files(RLIM_INFINITY);
		assert_int_equal(rc, -EFBIG);
		assert_non_null(strstr(err.text, place->path));
		assert_int_equal(size_of(place->path), before);
		assert_int_equal(verify(place), 0);
	}
}

static bool goes_on(void *left)
{
	return (*(unsigned *)left)-- > 0;
}

/* Property: it can be stopped anywhere, and the old files stay. */
static void it_can_be_stopped(void **state)
{
	const struct place *place = *state;
	unsigned most = UINT16_MAX, stops = 0;
	struct certificate_request request = {
	    .routing = &place->torus, .path = place->path, .made = "", .tables = true};

	request.go_on = (struct hd_go_on){goes_on, &most};
	assert_int_equal(certificate_write(&request, NULL), 0);
	const unsigned asked = UINT16_MAX - most;
	assert_int_equal(write_of(place, &place->tree, true, NULL), 0);
	for (unsigned left = 0; left < asked; left++, stops++) {
		unsigned rest = left;
		request.go_on = (struct hd_go_on){goes_on, &rest};
		assert_int_equal(certificate_write(&request, NULL), -ECANCELED);
		assert_int_equal(verify(place), 0);
		assert_int_equal(size_of(path_of(place, ".sls", "")), -1);
	}
	assert_true(stops > place->torus.routes->switch_count);
}

/* Property: a link beside the place leads nowhere. */
static void no_link_is_followed(void **state)
{
	const struct place *place = *state;
	char other[PATH_SIZE];

	snprintf(other, sizeof(other), "%s/other", place->folder);
	put(other, "of another");
	assert_int_equal(symlink(other, path_of(place, "", ".new")), 0);
	assert_int_equal(link(other, path_of(place, ".topo", ".new")), 0);
	assert_int_equal(write_of(place, &place->tree, true, NULL), 0);
	assert_int_equal(verify(place), 0);
	assert_int_equal(size_of(other), strlen("of another"));
	assert_int_equal(unlink(other), 0);
}

/* Property: with `file = /dev/null` the device stays. */
static void no_device_is_replaced(void **state)
{
	const struct place *place = *state;
	struct hd_error err;
	struct stat facts;

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(mkfifo(path_of(place, endings[i], ""), 0600), 0);
		assert_int_equal(write_of(place, &place->tree, true, &err), -EEXIST);
		assert_non_null(strstr(err.text, path_of(place, endings[i], ": there is a")));
		assert_int_equal(stat(path_of(place, endings[i], ""), &facts), 0);
		assert_true(S_ISFIFO(facts.st_mode));
		assert_int_equal(unlink(path_of(place, endings[i], "")), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(the_files_prove_each_other, enter, leave),
	    cmocka_unit_test_setup_teardown(files_of_others_stay, enter, leave),
	    cmocka_unit_test_setup_teardown(the_last_good_files_stay, enter, leave),
	    cmocka_unit_test_setup_teardown(it_can_be_stopped, enter, leave),
	    cmocka_unit_test_setup_teardown(no_link_is_followed, enter, leave),
	    cmocka_unit_test_setup_teardown(no_device_is_replaced, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
