/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The values of heddle.conf: those of the file, and defaults for the other options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config_testing.h"

/* An empty file, or none, means the defaults of every section. */
static void defaults(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	struct hd_config *read[3] = {accept(sections, "")};
	struct hd_config_object object;
	struct hd_error err;

	(void)state;
	assert_int_equal(hd_config_defaults(sections, &read[1], &err), 0);
	assert_int_equal(hd_config_read(sections, "/nonexistent/conf", false, &read[2], &err), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(number(hd_config_options(read[i], "spf"), "passes"), 3);
		assert_false(hd_options_get(hd_config_options(read[i], "spf"), "passes")->given);
		assert_null(hd_config_options(read[i], "ftree"));
		assert_null(hd_config_options(read[i], "keyd"));
		assert_null(hd_config_options(read[i], "ar.switch"));
		assert_null(hd_config_object(read[i], "ar.switch", LEAF));
		assert_false(hd_config_object_at(read[i], "ar.switch", 0, &object));
		hd_config_free(read[i]);
	}
	hd_config_sections_free(sections);
}

/* Sections are found by GUID, in any form of the GUID, and in the order of the file. */
static void sections_by_guid(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	struct hd_config *config = accept(sections, "[ar.switch 0x0002c903000a1b2c]\n"
						    "enable = no\n"
						    "[ar.switch 0X5]\n"
						    "enable = yes\n"
						    "[ar.switch 2C903000A1B2C]\n"
						    "ageing = 77\n");
	struct hd_config_object object;

	(void)state;
	assert_true(hd_config_object_at(config, "ar.switch", 0, &object));
	assert_true(object.guid == LEAF && object.line == 1);
	assert_ptr_equal(object.options, hd_config_object(config, "ar.switch", LEAF));
	assert_int_equal(number(object.options, "enable"), 0);
	assert_int_equal(number(object.options, "ageing"), 77);
	assert_true(hd_config_object_at(config, "ar.switch", 1, &object));
	assert_true(object.guid == 5 && object.line == 3);
	assert_int_equal(number(object.options, "enable"), 1);
	assert_int_equal(number(object.options, "ageing"), 30);
	assert_false(hd_config_object_at(config, "ar.switch", 2, &object));
	assert_false(hd_config_object_at(config, "ar", 0, &object));
	assert_null(hd_config_object(config, "ar.switch", 6));
	hd_config_free(config);
	hd_config_sections_free(sections);
}

/* A check sees all lines of a section, also those in another place of the file. */
static void checks_see_all_of_a_section(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	struct hd_config *config;

	(void)state;
	config = accept(sections, "[heddle]\nshare = log\n[spf]\n[heddle]\nlevel = 5\n");
	assert_int_equal(number(hd_config_options(config, "heddle"), "level"), 5);
	hd_config_free(config);
	hd_config_sections_free(sections);
}

static void a_name_is_registered_once(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	struct hd_config_section again = {.name = "keyd"};
	struct hd_error err;

	(void)state;
	assert_int_equal(hd_config_sections_add(sections, &again, &err), -EEXIST);
	assert_string_equal(err.text, "two sections of heddle.conf have the name [keyd]");
	hd_config_sections_free(sections);
}

/* A program that need not know the sections of the others still finds mistakes in its own. */
static void sections_of_any_other_program(void **state)
{
	const struct hd_config_section others = {.name = HD_CONFIG_ANY_OTHER,
						 .kind = HD_CONFIG_OTHER_PROGRAM};
	struct hd_config_sections *sections = sections_of_a_program();
	struct hd_error err = {""};
	int rc;

	(void)state;
	assert_null(parse_bytes(sections, "[dmodk]\n", 8, &rc, &err));
	assert_int_equal(hd_config_sections_add(sections, &others, NULL), 0);
	hd_config_free(accept(sections, "[dmodk]\nx = 1\n[map.x 0x1]\n[arx]\n[*]\n"));
	assert_null(parse_bytes(sections, "[ar.swich 0x1]\n", 15, &rc, &err));
	assert_int_equal(rc, -ENOENT);
	assert_non_null(strstr(err.text, "did you mean [ar.switch GUID]"));
	assert_null(parse_bytes(sections, "[spf.x]\n", 8, &rc, &err));
	assert_null(parse_bytes(sections, "x = 1\n[spf]\n", 12, &rc, &err));
	hd_config_sections_free(sections);
}

/* Many sections, so that their memory grows: each keeps its own values. */
static void many_sections(void **state)
{
	struct hd_config_sections *sections = hd_config_sections_new();
	char names[100][8], file[4096] = "";
	struct hd_config *config;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct hd_config_section section = {
		    .name = names[i], .options = engine_options, .option_count = 2};

		snprintf(names[i], sizeof(names[i]), "e%u", i);
		assert_int_equal(hd_config_sections_add(sections, &section, NULL), 0);
		sprintf(file + strlen(file), "[e%u]\npasses = %u\n", i, i % 16 + 1);
	}
	config = accept(sections, file);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(number(hd_config_options(config, names[i]), "passes"), i % 16 + 1);
	hd_config_free(config);
	hd_config_sections_free(sections);
}

/* Only a regular file of bounded size is read. A FIFO does not block the reader. */
static void files(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();
	char folder[] = "config-XXXXXX", path[64];
	struct hd_config *config = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_config_read(sections, "/nonexistent/conf", true, &config, &err),
			 -ENOENT);
	assert_string_equal(err.text, "/nonexistent/conf: cannot open: No such file or directory");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(hd_config_read(sections, folder, false, &config, &err), -EINVAL);
	snprintf(path, sizeof(path), "%s/conf", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(600); /* ends the test if it blocks */
	assert_int_equal(hd_config_read(sections, path, false, &config, &err), -EINVAL);
	alarm(0);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_int_equal(unlink(path), 0);
	for (long size = 1 << 20; size <= (1 << 20) + 1; size++) {
		FILE *stream = fopen(path, "w");

		assert_non_null(stream);
		for (long i = 0; i < size; i++)
			putc('\n', stream);
		fclose(stream);
		assert_int_equal(hd_config_read(sections, path, true, &config, &err),
				 size > 1 << 20 ? -EFBIG : 0);
	}
	hd_config_free(config);
	unlink(path);
	rmdir(folder);
	hd_config_sections_free(sections);
}

/* An option that a random file may set. */
struct place {
	const char *section;
	uint64_t guid;
	const char *key;
	int64_t most;
};

static const struct place places[] = {
    {"heddle", 0, "threads", 64},	{"heddle", 0, "level", 15},
    {"spf", 0, "passes", 16},		{"updown", 0, "passes", 16},
    {"ar.switch", LEAF, "ageing", 999}, {"ar.switch", LEAF, "enable", 1},
    {"ar.switch", 3, "ageing", 999},	{"ar.switch", 3, "enable", 1},
};

static void add_line(char *file, const struct place *place, int64_t value)
{
	static const char *const noise[] = {"",	      "\n", "# c\n", "  ; c\n", "[keyd]\nx = 1\n",
					    "[spf]\n"};
	char *end;

	strcat(file, noise[rand() % 6]);
	end = file + strlen(file);
	if (place->guid)
		end += sprintf(end, "[%s %s%llx]\n", place->section, rand() % 2 ? "0x" : "",
			       (unsigned long long)place->guid);
	else
		end += sprintf(end, "%s[%s]\n", rand() % 2 ? " " : "", place->section);
	sprintf(end, "%s%s%s%lld%s\n", rand() % 2 ? "\t" : "", place->key, rand() % 2 ? " = " : ":",
		(long long)value, rand() % 2 ? " ; c" : "");
}

/* In any order and form: exactly the options that the file sets are read. */
static void random_files(void **state)
{
	struct hd_config_sections *sections = sections_of_a_program();

	(void)state;
	srand(11);
	for (unsigned round = 0; round < 3000; round++) {
		int64_t values[COUNT(places)];
		char file[2048] = "";
		struct hd_config *config;
		unsigned start = (unsigned)rand() % COUNT(places);

		for (unsigned n = 0; n < COUNT(places); n++) {
			unsigned i = (start + n * 3) % COUNT(places);

			values[i] = -1;
			if (rand() % 3 == 0 && strcmp(places[i].key, "enable"))
				continue;
			values[i] = 1 + rand() % places[i].most;
			add_line(file, &places[i], values[i]);
		}
		config = accept(sections, file);
		for (unsigned i = 0; i < COUNT(places); i++) {
			const struct hd_options *options =
			    hd_config_object(config, places[i].section, places[i].guid);
			const struct hd_option_value *value =
			    hd_options_get(options, places[i].key);

			assert_int_equal(value->given, values[i] >= 0);
			if (value->given)
				assert_int_equal(value->number, values[i]);
		}
		hd_config_free(config);
	}
	hd_config_sections_free(sections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults),
	    cmocka_unit_test(sections_by_guid),
	    cmocka_unit_test(checks_see_all_of_a_section),
	    cmocka_unit_test(a_name_is_registered_once),
	    cmocka_unit_test(sections_of_any_other_program),
	    cmocka_unit_test(many_sections),
	    cmocka_unit_test(files),
	    cmocka_unit_test(random_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
