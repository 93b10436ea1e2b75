/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Certificates of small fabrics: who gets one, and that every cut file is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generated.h"
#include "verifier.h"

#include <heddle/ar_manager.h>
#include <heddle/engines.h>

static struct hd_fabric *generated(const char *kind, const char *settings)
{
	struct hd_fabric *fabric = NULL;

	assert_int_equal(generated_fabric(kind, settings, &fabric, NULL), 0);
	return fabric;
}

struct texts {
	char *bytes[VERIFIER_FILES];
	struct verifier_text file[VERIFIER_FILES];
};

static FILE *stream_of(struct texts *texts, enum verifier_file file, size_t *length)
{
	FILE *stream = open_memstream(&texts->bytes[file], length);

	assert_non_null(stream);
	return stream;
}

/* All files of tables with their certificate, plan NULL: none. */
static void write_all(struct texts *texts, const struct hd_fabric *fabric,
		      const struct hd_routes *routes, const struct hd_ar_plan *plan,
		      const struct hd_certificate *certificate)
{
	size_t length[VERIFIER_FILES] = {0};
	FILE *stream = stream_of(texts, VERIFIER_CERTIFICATE, &length[VERIFIER_CERTIFICATE]);

	assert_int_equal(hd_certificate_write(certificate, fabric, stream, NULL), 0);
	fclose(stream);
	stream = stream_of(texts, VERIFIER_TOPOLOGY, &length[VERIFIER_TOPOLOGY]);
	assert_int_equal(hd_fabric_write_netlist(fabric, stream, NULL), 0);
	fclose(stream);
	stream = stream_of(texts, VERIFIER_TABLES, &length[VERIFIER_TABLES]);
	assert_int_equal(hd_routes_write_dump(fabric, routes, stream, NULL), 0);
	fclose(stream);
	stream = stream_of(texts, VERIFIER_LEVELS, &length[VERIFIER_LEVELS]);
	assert_int_equal(hd_routes_write_levels(fabric, routes, stream, NULL), 0);
	fclose(stream);
	if (plan) {
		stream = stream_of(texts, VERIFIER_PLAN, &length[VERIFIER_PLAN]);
		assert_int_equal(hd_ar_write_far(plan, fabric, stream, NULL), 0);
		fclose(stream);
	}
	for (int file = 0; file < VERIFIER_FILES; file++)
		texts->file[file] = (struct verifier_text){texts->bytes[file], length[file]};
}

static void release(struct texts *texts)
{
	for (int file = 0; file < VERIFIER_FILES; file++)
		free(texts->bytes[file]);
}

/* A certificate, topology, service levels and tables of which a part is missing prove nothing. */
static void refuse_cut_files(struct texts *texts)
{
	static const enum verifier_file cut[] = {VERIFIER_CERTIFICATE, VERIFIER_TOPOLOGY,
						 VERIFIER_TABLES, VERIFIER_LEVELS};
	const char *reason;

	for (unsigned i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		struct verifier_text *text = &texts->file[cut[i]];
		size_t whole = text->length, last = whole - 1;
		/* what closes a topology or a table says nothing of paths */
		if (cut[i] == VERIFIER_TABLES || cut[i] == VERIFIER_TOPOLOGY)
			last = whole / 2;
		for (text->length = last; text->length > 1; text->length -= 1 + text->length / 40)
			if (text->bytes[text->length - 1] == '\n')
				assert_int_equal(verifier_run(texts->file, &reason), 1);
		text->length = whole;
	}
}

static void accept_and_cut(const char *kind, const char *settings, const char *engine, bool planned)
{
	struct hd_fabric *fabric = generated(kind, settings);
	const struct hd_route_request request = {.fabric = fabric};
	struct hd_routes *routes = NULL;
	struct hd_ar_plan *plan = NULL;
	struct hd_certificate *certificate = NULL;
	struct texts texts = {{NULL}, {{NULL, 0}}};
	const char *reason = "";
	struct hd_error err = {""};

	assert_int_equal(hd_engine_route(hd_engine_find(engine), &request, &routes, &err), 0);
	const struct hd_ar_request asked = {.fabric = fabric, .routes = routes, .mode = HD_AR_FREE};
	if (planned)
		assert_int_equal(hd_ar_plan_new(&asked, &plan, NULL, &err), 0);
	assert_int_equal(hd_ar_certify(fabric, routes, plan, NULL, &certificate, &err), 0);
	write_all(&texts, fabric, routes, plan, certificate);
	assert_int_equal(verifier_run(texts.file, &reason), 0);
	refuse_cut_files(&texts);
	assert_int_equal(verifier_run(texts.file, &reason), 0);
	if (planned) { /* without the plan the certificate still proves the tables */
		texts.file[VERIFIER_PLAN].bytes = NULL;
		assert_int_equal(verifier_run(texts.file, &reason), 0);
	}
	release(&texts);
	hd_certificate_free(certificate);
	hd_ar_plan_free(plan);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* A tree, lanes of a torus, and groups are proved; a file that is cut off is refused. */
static void test_accepts_and_refuses_cut_files(void **state)
{
	(void)state;
	accept_and_cut("xgft", "children=2,3 parents=1,2", "dmodk", false);
	accept_and_cut("xgft", "children=3,3,2 parents=1,2,2", "dmodk", true);
	accept_and_cut("torus", "dims=5,4 hosts=1", "spf", false);
}

static int certify(const struct hd_fabric *fabric, const struct hd_routes *routes, char *reason)
{
	struct hd_certificate *certificate = NULL;
	struct hd_error err = {""};
	int rc = hd_ar_certify(fabric, routes, NULL, NULL, &certificate, &err);

	snprintf(reason, HD_ERROR_TEXT, "%s", err.text);
	assert_int_equal(!certificate, rc != 0);
	hd_certificate_free(certificate);
	return rc;
}

/* A credit loop, a loop of packets, a wrong port and a hole behind an entry have no certificate. */
static void test_wrong_tables_have_none(void **state)
{
	struct hd_fabric *fabric = generated("torus", "dims=6 hosts=1");
	const struct hd_engine *engine = hd_engine_find("spf");
	struct hd_options *options = hd_engine_options(engine);
	const struct hd_route_request request = {.fabric = fabric, .options = options};
	struct hd_routes *routes = NULL;
	char reason[HD_ERROR_TEXT];
	uint32_t lid = fabric->lid[fabric->host_port[0]], to = fabric->host_switch[0];
	uint32_t from = fabric->isl_to[fabric->isl_base[to]];

	(void)state;
	assert_int_equal(hd_options_set(options, "deadlock", "off", NULL), 0);
	assert_int_equal(hd_engine_route(engine, &request, &routes, NULL), 0);
	assert_int_equal(certify(fabric, routes, reason), -ELOOP);
	assert_non_null(strstr(reason, "VL 0 has a credit loop of"));
	uint8_t *entry = &hd_routes_row(routes, from)[lid], right = *entry;
	for (uint32_t link = fabric->isl_base[from]; link < fabric->isl_base[from + 1]; link++)
		if (fabric->isl_to[link] != to)
			*entry = fabric->isl_port[link];
	assert_int_equal(certify(fabric, routes, reason), -EHOSTUNREACH);
	assert_non_null(strstr(reason, "can come back to this switch"));
	*entry = HD_NO_PORT;
	assert_int_equal(certify(fabric, routes, reason), -EHOSTUNREACH);
	assert_non_null(strstr(reason, "another switch leads here"));
	*entry = fabric->host_switch_port[fabric->host_base[from]];
	assert_int_equal(certify(fabric, routes, reason), -EHOSTUNREACH);
	assert_non_null(strstr(reason, "leads to no other switch"));
	*entry = right;
	uint8_t *last = &hd_routes_row(routes, to)[lid];
	*last = fabric->isl_port[fabric->isl_base[to]];
	assert_int_equal(certify(fabric, routes, reason), -EHOSTUNREACH);
	assert_non_null(strstr(reason, "for another port"));
	hd_options_free(options);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_accepts_and_refuses_cut_files),
	    cmocka_unit_test(test_wrong_tables_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
