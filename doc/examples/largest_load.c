/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* largest_load FABRIC ENGINE: routes a fabric, and prints the load of the fullest link. */
#include <heddle/engines.h>

#include <inttypes.h>
#include <stdio.h>

static int route(const struct hd_fabric *fabric, const char *name, struct hd_routes **routes,
		 struct hd_error *err)
{
	const struct hd_engine *engine = hd_engine_find(name);
	const struct hd_route_request request = {.fabric = fabric};

	if (!engine)
		return hd_error_set(err, -1, "no engine has the name %s", name);
	return hd_engine_route(engine, &request, routes, err);
}

int main(int argc, char **argv)
{
	struct hd_fabric *fabric = NULL;
	struct hd_routes *routes = NULL;
	struct hd_check_report *report = NULL;
	struct hd_error err = {"usage: largest_load FABRIC ENGINE"};
	int rc = argc == 3 ? hd_fabric_read(argv[1], NULL, &fabric, &err) : -1;

	if (!rc)
		rc = route(fabric, argv[2], &routes, &err);
	if (!rc)
		rc = hd_check(fabric, routes, NULL, &report, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	else
		printf("%s: largest load %" PRIu64 ", %s\n", routes->engine, report->flows_max,
		       hd_check_clean(report) ? "clean" : "not clean");
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
	return rc ? 1 : 0;
}
