/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The drawing: levels, parallel links, hosts counted; and that dot accepts it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "read_testing.h"

static char *dot_of(const struct hd_fabric *fabric)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	assert_int_equal(hd_fabric_write_dot(fabric, stream, NULL), 0);
	fclose(stream);
	return text;
}

static unsigned count(const char *text, const char *word)
{
	unsigned found = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		found++;
	return found;
}

static void a_tree_has_its_levels_and_each_pair_of_switches_one_edge(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=3,4,2 parents=1,2,2 parallel=1,1,3");
	char *text = dot_of(fabric);
	assert_int_equal(count(text, "rank=same"), 3);
	assert_int_equal(count(text, "\\n3 hosts\""), 8);
	assert_int_equal(count(text, " -- "), 8 * 2 + 4 * 2);
	assert_int_equal(count(text, "[label=\"3\""), 4 * 2);
	free(text);
	hd_fabric_free(fabric);
}

static void names_cannot_end_their_label(void **state)
{
	(void)state;
	struct hd_fabric *fabric = parse("Switch 2 \"S1\" # \"a\\b\"c\"\nSwitch 2 \"S2\"\n"
					 "[1] \"H1\"[1]\nHca 1 \"H1\"\n[1] \"S2\"[1]\n");
	char *text = dot_of(fabric);
	assert_says(text, "s0 [label=\"a\\\\b'c\", ");
	assert_says(text, "s1 [label=\"S2\\n1 host\", ");
	free(text);
	hd_fabric_free(fabric);
}

static void graphviz_draws_it(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=3,3 parents=1,3 parallel=1,2");
	struct scratch scratch = scratch_new();
	char *text = dot_of(fabric), *path = scratch_file(&scratch, "fabric.dot", text), *command;
	assert_true(asprintf(&command,
			     "command -v dot >/dev/null || exit 77; dot -Tsvg '%s' | grep -c "
			     "'class=\"edge\"'",
			     path) > 0);
	FILE *pipe = popen(command, "r");
	unsigned edges = 0;
	int fields = fscanf(pipe, "%u", &edges), status = pclose(pipe);
	free(command);
	scratch_drop(path);
	scratch_free(&scratch);
	free(text);
	hd_fabric_free(fabric);
	if (status == 77 << 8) {
		print_message("skipped: no dot (package graphviz)\n");
		skip();
	}
	assert_int_equal(fields, 1);
	assert_int_equal(edges, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_tree_has_its_levels_and_each_pair_of_switches_one_edge),
	    cmocka_unit_test(names_cannot_end_their_label),
	    cmocka_unit_test(graphviz_draws_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
