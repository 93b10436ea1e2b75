/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which modules are loaded, and what the log says about the others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check_samples.h"

#include <heddle/engines/engine_list.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOOD MODULES "/good"

static char logged[4096];

static void write_line(void *context, enum hd_log_level level, const char *line)
{
	size_t used = strlen(logged);

	(void)context;
	snprintf(logged + used, sizeof(logged) - used, "%d %s\n", (int)level, line);
}

static const struct hd_log log_to_text = {.write = write_line};

static struct hd_engine_list *load_for(const struct hd_engine_source *source)
{
	struct hd_engine_list *list = NULL;
	struct hd_error err;

	logged[0] = '\0';
	assert_int_equal(hd_engine_list_new(source, &list, &err), 0);
	return list;
}

static struct hd_engine_list *load(const char *path)
{
	return load_for(&(struct hd_engine_source){.path = path, .log = &log_to_text});
}

static void assert_logged(const char *text)
{
	if (!strstr(logged, text))
		fail_msg("the log does not say '%s': %s", text, logged);
}

static unsigned count_engines(const struct hd_engine_list *list)
{
	unsigned count;

	hd_engine_list_all(list, &count);
	return count;
}

/* Without folders a list has the built-in engines, in their order. So has a list that is missing. */
static void built_in_engines(void **state)
{
	static const char *const paths[] = {NULL, "", ":", "::"};
	unsigned count, known;
	const struct hd_engine *const *built_in = hd_engines(&count);

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct hd_engine_list *list = load(paths[i]);
		const struct hd_engine *const *all = hd_engine_list_all(list, &known);

		assert_int_equal(known, count);
		assert_memory_equal(all, built_in, count * sizeof(struct hd_engine *));
		assert_string_equal(logged, "");
		hd_engine_list_free(list);
	}
	assert_ptr_equal(hd_engine_list_all(NULL, &known), built_in);
	assert_ptr_equal(hd_engine_list_find(NULL, "spf"), hd_engine_find("spf"));
}

/* An engine of a module comes after the built-in ones, has its options and those of every engine,
 * and routes. It can be loaded again after its list is gone. */
static void a_module_routes(void **state)
{
	struct hd_fabric *fabric = sample_tree(4, 2, 3);

	(void)state;
	for (unsigned again = 0; again < 2; again++) {
		struct hd_engine_list *list = load(GOOD);
		const struct hd_engine *engine = hd_engine_list_find(list, "good");
		struct hd_routes *routes = NULL;
		struct hd_error err = {""};

		assert_non_null(engine);
		assert_true(engine->from_module);
		assert_int_equal(engine->option_count, 4);
		assert_int_equal(count_engines(list), count_engines(NULL) + 1);
		assert_logged("2 engine 'good' is loaded from " GOOD "/good.so\n");
		struct hd_route_request request = {.fabric = fabric,
						   .options = hd_engine_options(engine)};
		assert_int_equal(hd_engine_route(engine, &request, &routes, &err), 0);
		assert_string_equal(routes->engine, "good");
		hd_routes_free(routes);
		hd_options_free((struct hd_options *)request.options);
		hd_engine_list_free(list);
	}
	hd_fabric_free(fabric);
}

/* The reason of an engine of a module comes to its caller. */
static void a_module_refuses(void **state)
{
	struct hd_fabric *fabric = sample_tree(4, 2, 3);
	struct hd_engine_list *list = load(GOOD);
	const struct hd_engine *engine = hd_engine_list_find(list, "good");
	struct hd_options *options = hd_engine_options(engine);
	struct hd_route_request request = {.fabric = fabric, .options = options};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	(void)state;
	assert_int_equal(hd_options_set(options, "refuse", "yes", &err), 0);
	assert_int_equal(hd_engine_route(engine, &request, &routes, &err), -1);
	assert_string_equal(err.text, "as the option asks");
	hd_options_free(options);
	hd_engine_list_free(list);
	hd_fabric_free(fabric);
}

/* Whatever cannot be loaded is named with a reason, and the rest is loaded. */
static void refusals_by_name(void **state)
{
	struct hd_engine_list *list = load(MODULES "/foreign:" MODULES "/stranger:" MODULES
						   "/missing:" MODULES "/twin:" GOOD ":" GOOD);

	(void)state;
	assert_logged("0 engine module " MODULES "/foreign/foreign.so is not loaded: it was built "
		      "for ABI 4711 of engines, and this Heddle has ABI 4; build it again");
	assert_logged("0 engine module " MODULES "/stranger/stranger.so is not loaded: it has no "
		      "symbol hd_engine_module");
	assert_logged("0 no engine modules are loaded from " MODULES "/missing: No such file");
	assert_logged("0 engine module " MODULES "/twin/twin.so is not loaded: another engine has "
		      "the name 'updown'");
	assert_logged("0 engine module " GOOD "/good.so is not loaded: another engine has the name "
		      "'good'");
	assert_false(hd_engine_list_find(list, "updown")->from_module);
	assert_int_equal(count_engines(list), count_engines(NULL) + 1);
	hd_engine_list_free(list);
}

/* ---- files ---- */

/* A folder that the test fills. */
struct place {
	char folder[32], file[64];
};

static struct place make_place(void)
{
	struct place place = {.folder = "/tmp/engine-list-XXXXXX"};

	assert_non_null(mkdtemp(place.folder));
	snprintf(place.file, sizeof(place.file), "%s/good.so", place.folder);
	return place;
}

static void remove_place(const struct place *place)
{
	unlink(place->file);
	rmdir(place->folder);
}

static void copy_good(const struct place *place)
{
	char command[512];

	snprintf(command, sizeof(command), "cp " GOOD "/good.so %s", place->file);
	assert_int_equal(system(command), 0);
}

/* Files that are not shared objects, and names that are not *.so, do no harm. */
static void other_files(void **state)
{
	struct place place = make_place();
	FILE *stream = fopen(place.file, "w");
	struct hd_engine_list *list;

	(void)state;
	assert_non_null(stream);
	fputs("no shared object", stream);
	fclose(stream);
	list = load(place.folder);
	assert_logged("good.so is not loaded: the dynamic linker says: ");
	hd_engine_list_free(list);
	unlink(place.file);
	assert_int_equal(mkfifo(place.file, 0600), 0);
	list = load(place.folder);
	assert_logged("good.so is not loaded: it is not a regular file\n");
	hd_engine_list_free(list);
	unlink(place.file);
	assert_int_equal(symlink(GOOD "/nothing.so", place.file), 0);
	list = load(place.folder);
	assert_logged("good.so is not loaded: No such file");
	hd_engine_list_free(list);
	remove_place(&place);
}

static void assert_root_refuses(const struct place *place, const char *reason)
{
	struct hd_engine_list *list = load(place->folder);

	assert_logged("good.so is not loaded: users other than root can change ");
	assert_logged(reason);
	assert_null(hd_engine_list_find(list, "good"));
	hd_engine_list_free(list);
}

/* Root loads no file that another user could have written, or could have put there. */
static void files_of_others(void **state)
{
	struct place place;
	struct hd_engine_list *list;

	(void)state;
	if (geteuid())
		skip();
	place = make_place();
	copy_good(&place);
	assert_int_equal(chmod(place.file, 0644), 0);
	list = load(place.folder);
	assert_non_null(hd_engine_list_find(list, "good"));
	hd_engine_list_free(list);
	assert_int_equal(chmod(place.file, 0664), 0);
	assert_root_refuses(&place, "/good.so (owner 0, mode 664)");
	assert_int_equal(chmod(place.file, 0644), 0);
	assert_int_equal(chmod(place.folder, 0777), 0);
	assert_root_refuses(&place, "(owner 0, mode 777)");
	assert_int_equal(chmod(place.folder, 0755), 0);
	assert_int_equal(chown(place.file, 12345, 0), 0);
	assert_root_refuses(&place, "/good.so (owner 12345, mode 644)");
	assert_int_equal(chown(place.file, 0, 0), 0);
	assert_int_equal(chown(place.folder, 12345, 0), 0);
	assert_root_refuses(&place, "(owner 12345, mode 755)");
	remove_place(&place);
}

/* A link counts like what it leads to: who can change it, or a folder on the way, chooses what is loaded. */
static void links_of_others(void **state)
{
	struct place place, other;
	char between[256];
	struct hd_engine_list *list;

	(void)state;
	if (geteuid())
		skip();
	place = make_place();
	other = make_place();
	copy_good(&place);
	assert_int_equal(symlink(place.file, other.file), 0);
	list = load(other.folder);
	assert_non_null(hd_engine_list_find(list, "good"));
	hd_engine_list_free(list);
	/* a library of root, by a link of root in a folder of another user, who could exchange it */
	assert_int_equal(chown(other.folder, 12345, 0), 0);
	assert_root_refuses(&other, "(owner 12345, mode 700)");
	/* by a link of another user in a folder where he cannot */
	assert_int_equal(chown(other.folder, 0, 0), 0);
	assert_int_equal(chmod(other.folder, 01777), 0);
	assert_int_equal(lchown(other.file, 12345, 0), 0);
	assert_root_refuses(&other, "/good.so (owner 12345, mode 777)");
	/* by a folder on the way only: root's link leads through it to root's file */
	assert_int_equal(unlink(other.file), 0);
	snprintf(between, sizeof(between), "%s/../%s/good.so", other.folder,
		 place.folder + strlen("/tmp/"));
	assert_int_equal(chown(other.folder, 12345, 0), 0);
	struct place third = make_place();
	assert_int_equal(symlink(between, third.file), 0);
	assert_root_refuses(&third, "(owner 12345, mode 1777)");
	remove_place(&third);
	remove_place(&other);
	remove_place(&place);
}

/* In a folder such as /tmp, others may have given root's library this name. */
static void second_names(void **state)
{
	struct place place, sticky;

	(void)state;
	if (geteuid())
		skip();
	place = make_place();
	sticky = make_place();
	copy_good(&place);
	assert_int_equal(chmod(sticky.folder, 01777), 0);
	assert_int_equal(link(place.file, sticky.file), 0);
	assert_root_refuses(&sticky, "/good.so (owner 0, mode ");
	remove_place(&sticky);
	remove_place(&place);
}

/* ---- the program's own conditions ---- */

static int accept_none(void *context, const struct hd_engine *engine, struct hd_error *err)
{
	return hd_error_set(err, -EPERM, "%s '%s'", (const char *)context, engine->name);
}

static void a_program_may_refuse(void **state)
{
	struct hd_engine_list *list = load_for(&(struct hd_engine_source){
	    .path = GOOD, .log = &log_to_text, .accept = accept_none, .context = "not here:"});

	(void)state;
	assert_logged("0 engine module " GOOD "/good.so is not loaded: not here: 'good'\n");
	assert_null(hd_engine_list_find(list, "good"));
	hd_engine_list_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(built_in_engines),	    cmocka_unit_test(a_module_routes),
	    cmocka_unit_test(a_module_refuses),	    cmocka_unit_test(refusals_by_name),
	    cmocka_unit_test(other_files),	    cmocka_unit_test(files_of_others),
	    cmocka_unit_test(links_of_others),	    cmocka_unit_test(second_names),
	    cmocka_unit_test(a_program_may_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
