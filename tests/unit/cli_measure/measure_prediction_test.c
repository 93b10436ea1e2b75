/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How heddle-measure finds the host of each rank, and what it predicts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fabric_source.h"
#include "measure_report.h"

#define NAME_SIZE 64

/* One switch with four hosts, one of which has a name with a dot. */
static const char netlist[] = "Switch 8 \"S1\"\n"
			      "[1] \"n1 HCA-1\"[1]\n"
			      "[2] \"n2 HCA-1\"[1]\n"
			      "[3] \"n3.x HCA-1\"[1]\n"
			      "[4] \"n4 HCA-1\"[1]\n"
			      "Hca 1 \"n1 HCA-1\"\n[1] \"S1\"[1]\n"
			      "Hca 1 \"n2 HCA-1\"\n[1] \"S1\"[2]\n"
			      "Hca 1 \"n3.x HCA-1\"\n[1] \"S1\"[3]\n"
			      "Hca 1 \"n4 HCA-1\"\n[1] \"S1\"[4]\n";

static void write_file(char path[32], const char *text)
{
	strcpy(path, "/tmp/measure-XXXXXX");
	int file = mkstemp(path);

	assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	close(file);
}

/* Predicts for ranks with these names; "" ends them. */
static int predict(const char *const *names, const char *host_file, const char *text,
		   struct measure_prediction *prediction, struct hd_error *err)
{
	struct hd_options *options = hd_engine_options(hd_engine_find("spf"));
	struct table_source tables = {.engine = hd_engine_find("spf"), .options = options};
	char path[32], all[8 * NAME_SIZE] = "";
	uint32_t ranks = 0;

	for (; *names[ranks]; ranks++)
		strcpy(all + (size_t)ranks * NAME_SIZE, names[ranks]);
	write_file(path, text);
	const struct measure_prediction_request request = {.path = path,
							   .lmc = LMC_ANY,
							   .tables = &tables,
							   .host_file = host_file,
							   .names = all,
							   .ranks = ranks,
							   .name_size = NAME_SIZE,
							   .seed = 3,
							   .patterns = 20};
	*prediction = (struct measure_prediction){.fabric = NULL};
	*err = (struct hd_error){""};
	int rc = measure_prediction_make(&request, prediction, err);
	unlink(path);
	hd_options_free(options);
	return rc;
}

static const char *name_of(const struct measure_prediction *prediction, uint32_t rank)
{
	const struct hd_fabric *fabric = prediction->ranks->fabric;

	return fabric
	    ->node_name[fabric->port_node[fabric->host_port[prediction->ranks->host[rank]]]];
}

/* Property: a host has the name that MPI gives, or its part up to the first dot; where the fabric
 * has the full name, that one counts. */
static void names_are_full_or_short(void **state)
{
	static const char *const names[] = {"n4", "n1.cluster.example", "n3.x", "n2.cluster", ""};
	struct measure_prediction prediction;
	struct hd_error err;

	(void)state;
	if (predict(names, NULL, netlist, &prediction, &err))
		fail_msg("%s", err.text);
	assert_string_equal(name_of(&prediction, 0), "n4 HCA-1");
	assert_string_equal(name_of(&prediction, 1), "n1 HCA-1");
	assert_string_equal(name_of(&prediction, 2), "n3.x HCA-1");
	assert_string_equal(name_of(&prediction, 3), "n2 HCA-1");
	/* on one switch nobody waits for anybody */
	assert_int_equal(prediction.report->routes, 40);
	assert_true(prediction.report->mean == 1);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(prediction.means[i], HD_SHARE_ONE);
	measure_prediction_free(&prediction);
}

/* Property: what does not fit is refused with the rank or the file. */
static void misfits(void **state)
{
	static const char *const unknown[] = {"n1", "n9.cluster", ""};
	static const char *const twice[] = {"n1", "n1.cluster", ""};
	static const char *const good[] = {"n1", "n2", ""};
	struct measure_prediction prediction;
	struct hd_error err;
	char hosts[32];

	(void)state;
	assert_int_equal(predict(unknown, NULL, netlist, &prediction, &err), -EINVAL);
	assert_non_null(strstr(err.text, "hosts of the ranks:2: "));
	assert_non_null(strstr(err.text, "n9"));
	measure_prediction_free(&prediction);
	assert_int_equal(predict(twice, NULL, netlist, &prediction, &err), -EINVAL);
	assert_non_null(strstr(err.text, "hosts of the ranks:2: host 'n1' is listed twice"));
	measure_prediction_free(&prediction);
	write_file(hosts, "n1\nn2\nn4\n");
	assert_int_equal(predict(good, hosts, netlist, &prediction, &err), -EINVAL);
	assert_non_null(strstr(err.text, "3 hosts, but there are 2 ranks"));
	unlink(hosts);
	measure_prediction_free(&prediction);
	assert_true(predict(good, NULL, "no fabric\n", &prediction, &err) < 0);
	measure_prediction_free(&prediction);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_full_or_short),
	    cmocka_unit_test(misfits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
