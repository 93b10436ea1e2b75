/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables that a sweep without repair makes, for the campaign tests/flaps/repairs.
 *
 *	heddle-sweep-alone STATE FABRIC ENGINE LANES
 *
 * STATE is Heddle's state file of a running OpenSM before a loss, FABRIC the output of ibnetdiscover
 * after it. Writes a dump of the tables. The file has no service levels, so those of the dump may be
 * others. Exit status: 0 written, 2 the engine refuses, or bad input.
 */
#include <heddle/base/text.h>
#include <heddle/engines.h>
#include <heddle/fabric/read.h>
#include <heddle/fabric/stored_tables.h>
#include <heddle/fabric/write.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_state(const char *path, struct hd_stored_state *state, struct hd_error *err)
{
	struct hd_text text = {0};
	int rc = hd_text_open(path, &text, err);

	if (rc)
		return rc;
	rc = hd_stored_state_read(text.bytes, text.length, state, err);
	hd_text_close(&text);
	return rc;
}

/* The first set is in the switches; the others are baselines of engines. */
static int route(const struct hd_stored_state *state, const struct hd_fabric *fabric,
		 const struct hd_engine *engine, unsigned lanes, struct hd_error *err)
{
	const struct hd_policy policy = {0};
	struct hd_routes *previous = NULL, *baseline = NULL, *routes = NULL;
	int rc = hd_stored_tables_get(state->sets[0], fabric, &previous, err);

	for (uint32_t i = 1; !rc && !baseline && i < state->count; i++)
		if (!strcmp(state->sets[i]->routes->engine, engine->name))
			rc = hd_stored_tables_baseline(state->sets[i], fabric, &baseline, err);
	const struct hd_route_request request = {.fabric = fabric,
						 .policy = &policy,
						 .previous = previous,
						 .baseline = baseline,
						 .lanes = lanes};
	if (!rc)
		rc = hd_engine_route(engine, &request, &routes, err);
	if (!rc)
		rc = hd_routes_write_dump(fabric, routes, stdout, err);
	hd_routes_free(previous);
	hd_routes_free(baseline);
	hd_routes_free(routes);
	return rc;
}

int main(int argc, char **argv)
{
	static struct hd_stored_state state;
	struct hd_error err = {""};
	struct hd_fabric *fabric = NULL;
	const struct hd_engine *engine = argc == 5 ? hd_engine_find(argv[3]) : NULL;

	if (!engine) {
		fprintf(stderr, "usage: heddle-sweep-alone STATE FABRIC ENGINE LANES\n");
		return 2;
	}
	int rc = read_state(argv[1], &state, &err);
	if (!rc)
		rc = hd_fabric_read(argv[2], NULL, &fabric, &err);
	if (!rc)
		rc = route(&state, fabric, engine, (unsigned)strtoul(argv[4], NULL, 10), &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	hd_fabric_free(fabric);
	hd_stored_state_release(&state);
	return rc ? 2 : 0;
}
