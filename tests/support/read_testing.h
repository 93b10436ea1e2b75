/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers that the tests of readers and writers share. Include after <cmocka.h>. */
#ifndef READ_TESTING_H
#define READ_TESTING_H

#include <heddle/fabric.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The remarks of a reader, in one text. */
struct remarks {
	char text[4096];
};

static inline void remember(void *context, enum hd_log_level level, const char *line)
{
	struct remarks *remarks = context;
	size_t used = strlen(remarks->text);

	(void)level;
	snprintf(remarks->text + used, sizeof(remarks->text) - used, "%s\n", line);
}

static inline struct hd_fabric *parse_remarked(const char *text, struct remarks *remarks)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};
	struct hd_log log = {remember, remarks};

	if (hd_fabric_parse(text, strlen(text), "topo", remarks ? &log : NULL, &fabric, &err))
		fail_msg("%s", err.text);
	return fabric;
}

static inline struct hd_fabric *parse(const char *text)
{
	return parse_remarked(text, NULL);
}

static inline void assert_says(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("'%s' does not say '%s'", text, expected);
}

/* Reading must fail with that code and a reason that contains both texts. */
static inline void assert_refusal(int got, int rc, const struct hd_error *err, const char *place,
				  const char *reason)
{
	if (got != rc)
		fail_msg("%d instead of %d: '%s'", got, rc, err->text);
	assert_says(err->text, place);
	assert_says(err->text, reason);
}

static inline void assert_bytes_refused(const char *text, size_t length, int rc, const char *place,
					const char *reason)
{
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};
	int got = hd_fabric_parse(text, length, "topo", NULL, &fabric, &err);

	assert_null(fabric);
	assert_refusal(got, rc, &err, place, reason);
}

static inline void assert_parse_refused(const char *text, int rc, const char *place,
					const char *reason)
{
	assert_bytes_refused(text, strlen(text), rc, place, reason);
}

/* The same for tables of the fabric in `topology`. */
static inline void assert_routes_refused(const char *topology, const char *text, int rc,
					 const char *place, const char *reason)
{
	struct hd_fabric *fabric = parse(topology);
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	int got = hd_routes_parse(text, strlen(text), "lfts", fabric, NULL, &routes, &err);

	assert_null(routes);
	assert_refusal(got, rc, &err, place, reason);
	hd_fabric_free(fabric);
}

/* ---- files ---- */

struct scratch {
	char folder[64];
};

static inline struct scratch scratch_new(void)
{
	struct scratch scratch = {"/tmp/heddle-test-XXXXXX"};

	assert_non_null(mkdtemp(scratch.folder));
	return scratch;
}

static inline char *scratch_file(const struct scratch *scratch, const char *name, const char *text)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", scratch->folder, name) > 0);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return path;
}

/* Removes a file that scratch_file() made, and its path. */
static inline void scratch_drop(char *path)
{
	assert_int_equal(unlink(path), 0);
	free(path);
}

static inline void scratch_free(const struct scratch *scratch)
{
	assert_int_equal(rmdir(scratch->folder), 0);
}

/* ---- what a writer writes ---- */

static inline char *netlist_of(const struct hd_fabric *fabric)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	assert_int_equal(hd_fabric_write_netlist(fabric, stream, NULL), 0);
	fclose(stream);
	return text;
}

typedef int routes_writer(const struct hd_fabric *fabric, const struct hd_routes *routes,
			  FILE *stream, struct hd_error *err);

/* The output of a writer of tables or levels, to be freed. */
static inline char *written(routes_writer *write, const struct hd_fabric *fabric,
			    const struct hd_routes *routes)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	struct hd_error err = {""};

	if (write(fabric, routes, stream, &err))
		fail_msg("%s", err.text);
	fclose(stream);
	return text;
}

static inline char *dump_of(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	return written(hd_routes_write_dump, fabric, routes);
}

/* The fabrics are equal in all arrays from which the others follow. */
static inline void assert_same_fabric(const struct hd_fabric *a, const struct hd_fabric *b)
{
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->switch_count, b->switch_count);
	assert_int_equal(a->port_count, b->port_count);
	assert_int_equal(a->lid_count, b->lid_count);
	for (uint32_t node = 0; node < a->node_count; node++)
		assert_string_equal(a->node_name[node], b->node_name[node]);
	assert_memory_equal(a->node_guid, b->node_guid, a->node_count * sizeof(*a->node_guid));
	assert_memory_equal(a->system_guid, b->system_guid,
			    a->node_count * sizeof(*a->system_guid));
	assert_memory_equal(a->node_type, b->node_type, a->node_count);
	assert_memory_equal(a->port_base, b->port_base,
			    (a->node_count + 1) * sizeof(*a->port_base));
	assert_memory_equal(a->peer, b->peer, a->port_count * sizeof(*a->peer));
	assert_memory_equal(a->port_guid, b->port_guid, a->port_count * sizeof(*a->port_guid));
	assert_memory_equal(a->lid, b->lid, a->port_count * sizeof(*a->lid));
	assert_memory_equal(a->lmc, b->lmc, a->port_count);
	for (uint32_t port = 0; port < a->port_count; port++) {
		if (a->peer[port] == HD_NONE)
			continue; /* only cables have width and speed */
		assert_int_equal(a->width[port], b->width[port]);
		assert_int_equal(a->speed[port], b->speed[port]);
	}
}

/* Path of a dump of a real cluster. If it is missing, prints a message and returns NULL. */
static inline char *field_file(const char *name)
{
	const char *folder = getenv("HEDDLE_FABRICS");
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder ? folder : "../shared/fabrics", name) > 0);
	if (!access(path, R_OK))
		return path;
	print_message("skipped: no %s (HEDDLE_FABRICS names its folder)\n", path);
	free(path);
	return NULL;
}

#endif
