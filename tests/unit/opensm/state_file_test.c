/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of the tables in the switches: what is written is read again, and whatever else may be at
 * its place costs one warning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "routing.h"
#include "settings.h"
#include "state_file.h"

#include <errno.h>
#include <heddle/base/text.h>
#include <heddle/config/sections.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST "dmodk,updown"
#define PATH_SIZE 96

static struct opensm_log sink = {.threshold = HD_LOG_INFO};

struct place {
	char folder[PATH_SIZE / 2], path[PATH_SIZE], temporary[PATH_SIZE];
	struct routing *routing;
	struct routing_memory memory;
};

static struct routing *routed(void)
{
	struct hd_fabric *fabric = generate("xgft", "children=3,2 parents=1,2");
	const struct routing_memory nothing = {0};
	const struct hd_policy policy = {0};
	struct hd_options *options = hd_engine_options(hd_engine_find("dmodk"));
	struct routing *routing = NULL;

	assert_int_equal(
	    routing_compute(&(struct routing_request){.engine = hd_engine_find("dmodk"),
						      .options = options,
						      .policy = &policy,
						      .memory = &nothing},
			    fabric, &routing, NULL),
	    0);
	hd_options_free(options);
	return routing;
}

static int enter(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return -1;
	snprintf(place->folder, sizeof(place->folder), "/tmp/heddle-state-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "%s/tables", place->folder);
	snprintf(place->temporary, sizeof(place->temporary), "%s/tables.new", place->folder);
	place->routing = routed();
	assert_int_equal(routing_memory_note(&place->memory, place->routing, NULL), 0);
	*state = place;
	return 0;
}

static int leave(void **state)
{
	struct place *place = *state;

	if (unlink(place->path) == -1 && errno == EISDIR)
		rmdir(place->path);
	rmdir(place->folder);
	routing_memory_clear(&place->memory);
	routing_release(place->routing);
	free(place);
	return 0;
}

static void store(const struct place *place)
{
	assert_int_equal(state_file_store(place->path, LIST, &place->memory, place->routing, NULL),
			 0);
	assert_int_equal(access(place->temporary, F_OK), -1);
}

static struct routing_memory load(const struct place *place, const char *list)
{
	struct routing_memory memory = {0};

	logged[0] = '\0';
	state_file_load(place->path, list, &memory, &sink);
	return memory;
}

/* Nothing is read, and one line says why. */
static void assert_warned(const struct place *place, const char *reason)
{
	struct routing_memory memory = load(place, LIST);

	assert_null(memory.in_place);
	assert_int_equal(memory.baseline_count, 0);
	assert_logged(reason);
	assert_logged(place->path);
	assert_logged("routes afresh");
	assert_ptr_equal(strchr(logged, '\n'), logged + strlen(logged) - 1);
}

/* The first `length` bytes of the file, the byte at `changed` increased by one, and no others. */
static void damage(const struct place *place, long length, long changed)
{
	FILE *file = fopen(place->path, "r+");
	int byte;

	assert_non_null(file);
	if (changed >= 0) {
		assert_int_equal(fseek(file, changed, SEEK_SET), 0);
		byte = fgetc(file);
		assert_int_equal(fseek(file, changed, SEEK_SET), 0);
		fputc(byte + 1, file);
	}
	assert_int_equal(fclose(file), 0);
	assert_int_equal(truncate(place->path, length), 0);
}

static long file_size(const char *path)
{
	struct stat facts;

	return stat(path, &facts) ? -1 : (long)facts.st_size;
}

/* Property: tables, baselines and policy come back; the list of engines is compared. */
static void what_is_stored_is_loaded(void **state)
{
	const struct place *place = *state;
	const struct hd_routes *routes = place->routing->routes;

	store(place);
	struct routing_memory memory = load(place, LIST);
	assert_non_null(memory.in_place);
	assert_true(hd_stored_tables_fit(memory.in_place, place->routing->fabric));
	assert_int_equal(hd_routes_count_changes(memory.in_place->routes, routes), 0);
	assert_int_equal(memory.in_place->policy, place->routing->policy);
	assert_int_equal(memory.baseline_count, 1);
	assert_non_null(routing_memory_find(&memory, "dmodk"));
	assert_false(memory.other_list);
	routing_memory_clear(&memory);
	memory = load(place, "dmodk");
	assert_true(memory.other_list);
	routing_memory_clear(&memory);
}

/* Property: without a file nothing is known, and nothing is wrong. */
static void no_file_is_no_fault(void **state)
{
	struct routing_memory memory = load(*state, LIST);

	assert_null(memory.in_place);
	assert_string_equal(logged, "");
}

/* Property: no beginning of a file is taken for a whole one. */
static void a_truncated_file(void **state)
{
	const struct place *place = *state;

	store(place);
	for (long length = file_size(place->path) - 1; length >= 0; length -= 97) {
		damage(place, length, -1);
		assert_warned(place, "it is cut short");
	}
}

static void a_file_of_a_newer_version(void **state)
{
	const struct place *place = *state;

	store(place);
	damage(place, file_size(place->path), 8);
	damage(place, file_size(place->path), 8);
	assert_warned(place, "its format has version 4, and this Heddle reads versions 1 to 3");
}

static void a_foreign_file(void **state)
{
	const struct place *place = *state;

	store(place);
	damage(place, file_size(place->path), 0);
	assert_warned(place, "it is not a file of Heddle's tables");
}

static void a_damaged_file(void **state)
{
	const struct place *place = *state;

	store(place);
	damage(place, file_size(place->path), file_size(place->path) / 2);
	assert_warned(place, "its checksum is wrong");
}

/* Property: what is not a regular file is refused at once: nobody writes to this FIFO. */
static void a_fifo(void **state)
{
	const struct place *place = *state;

	assert_int_equal(mkfifo(place->path, 0600), 0);
	assert_warned(place, "not a regular file");
}

/* Property: what another user can have put there is not used. */
static void a_place_of_others(void **state)
{
	const struct place *place = *state;

	FILE *stream = fopen(place->path, "w");
	assert_non_null(stream);
	fclose(stream);
	assert_int_equal(chmod(place->path, 0666), 0);
	assert_warned(place, "users other than root");
	assert_int_equal(chmod(place->path, 0600), 0);
	assert_warned(place, "it is ");
	assert_int_equal(chmod(place->folder, 0777), 0);
	assert_warned(place, "users other than root");
	assert_int_equal(chmod(place->folder, 0700), 0);
}

static void a_folder(void **state)
{
	const struct place *place = *state;

	assert_int_equal(mkdir(place->path, 0700), 0);
	assert_warned(place, "not a regular file");
}

/* Property: no file can be reached by this path, to read or to write. */
static void a_path_through_a_file(void **state)
{
	struct place *place = *state, beyond = *place;
	struct hd_error err = {""};

	store(place);
	snprintf(beyond.path, sizeof(beyond.path), "%s/tables/tables", place->folder);
	assert_warned(&beyond, "Not a directory");
	assert_int_equal(state_file_store(beyond.path, LIST, &place->memory, place->routing, &err),
			 -ENOTDIR);
	assert_non_null(strstr(err.text, beyond.path));
}

/* Property: if the disk is full, the old file stays, and the new one leaves no part behind. */
static void a_full_disk(void **state)
{
	struct place *place = *state;
	struct rlimit before, small;
	struct hd_error err = {""};

	store(place);
	long size = file_size(place->path);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){.rlim_cur = 100, .rlim_max = before.rlim_max};
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int rc = state_file_store(place->path, LIST, &place->memory, place->routing, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_true(rc < 0);
	assert_non_null(strstr(err.text, place->path));
	assert_int_equal(access(place->temporary, F_OK), -1);
	assert_int_equal(file_size(place->path), size);
	struct routing_memory memory = load(place, LIST);
	assert_non_null(memory.in_place);
	routing_memory_clear(&memory);
}

/* Property: the file goes when the switches have no tables of ours; twice is no error. */
static void without_a_routing_the_file_goes(void **state)
{
	struct place *place = *state;

	store(place);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(state_file_store(place->path, LIST, &place->memory, NULL, NULL),
				 0);
		assert_int_equal(file_size(place->path), -1);
	}
}

static struct hd_config_sections *sections; /* of all configurations */

static struct hd_config *configured(const char *conf)
{
	const struct hd_text text = {.bytes = conf, .length = strlen(conf), .name = "conf"};
	struct hd_config *config = NULL;

	assert_int_equal(hd_config_parse(sections, &text, &config, NULL), 0);
	return config;
}

static void assert_path(const char *conf, uint64_t guid, const char *expected)
{
	struct hd_config *config = configured(conf);
	char *path = state_file_path(config, guid);

	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(path);
	free(path);
	hd_config_free(config);
}

/* Property: OpenSMs of several ports have files of their own by default, and with %g in the path. */
static void each_port_has_its_file(void **state)
{
	(void)state;
	setenv("OSM_CACHE_DIR", "/c", 1);
	assert_path("", 0, "/c/heddle-tables");
	assert_path("", 0x2c9ab, "/c/heddle-tables-0x000000000002c9ab");
	assert_path("[heddle]\nstate = /s/t-%g\n", 0x2c9ab, "/s/t-0x000000000002c9ab");
	assert_path("[heddle]\nstate = /s/t-%g\n", 0, "/s/t-default");
	assert_path("[heddle]\nstate = /s/t\n", 0x2c9ab, "/s/t");
	assert_path("[heddle]\nstate = off\n", 0x2c9ab, NULL);
	unsetenv("OSM_CACHE_DIR");
}

/* Property: the file without a GUID is read until the one with a GUID exists, and never if the
 * administrator has chosen the name. */
static void the_old_file_is_read_once(void **state)
{
	const struct place *place = *state;
	struct hd_config *config = configured(""), *chosen = configured("[heddle]\nstate = /s/t\n");
	char *old;

	setenv("OSM_CACHE_DIR", "/c", 1);
	old = state_file_old_path(config, 1, place->path);
	assert_string_equal(old, "/c/heddle-tables");
	free(old);
	assert_null(state_file_old_path(config, 0, place->path));
	assert_null(state_file_old_path(chosen, 1, place->path));
	store(place);
	assert_null(state_file_old_path(config, 1, place->path));
	unsetenv("OSM_CACHE_DIR");
	hd_config_free(config);
	hd_config_free(chosen);
}

static int make_sections(void **state)
{
	(void)state;
	sections = hd_config_sections_new();
	return sections ? hd_config_sections_add_heddle(sections, NULL) : -1;
}

static int free_sections(void **state)
{
	(void)state;
	hd_config_sections_free(sections);
	return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
	const struct CMUnitTest tests[] = {
	    TEST(what_is_stored_is_loaded),
	    TEST(no_file_is_no_fault),
	    TEST(a_truncated_file),
	    TEST(a_file_of_a_newer_version),
	    TEST(a_foreign_file),
	    TEST(a_damaged_file),
	    TEST(a_fifo),
	    TEST(a_place_of_others),
	    TEST(a_folder),
	    TEST(a_path_through_a_file),
	    TEST(a_full_disk),
	    TEST(without_a_routing_the_file_goes),
	    TEST(each_port_has_its_file),
	    TEST(the_old_file_is_read_once),
	};

	return cmocka_run_group_tests(tests, make_sections, free_sections);
}
