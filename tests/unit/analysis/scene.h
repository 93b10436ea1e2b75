/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A generated fabric with random tables, a pattern and a request for it. Include after testing.h
 * and random_tables.h. */
#ifndef ANALYSIS_SCENE_H
#define ANALYSIS_SCENE_H

struct scene {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ranks *ranks;
	struct hd_pattern *pattern;
	struct hd_congestion_request request;
};

static inline struct scene scene_of(const char *generator, const char *settings, const char *kind,
				    const char *options)
{
	uint64_t random = 7;
	struct scene scene = {.fabric = generate(generator, settings)};

	scene.routes = random_tables(scene.fabric, &random, false);
	scene.ranks = all_ranks(scene.fabric);
	scene.pattern = pattern_of(kind, options, scene.ranks);
	scene.request = (struct hd_congestion_request){.fabric = scene.fabric,
						       .routes = scene.routes,
						       .ranks = scene.ranks,
						       .pattern = scene.pattern,
						       .mapping = HD_MAP_RANDOM,
						       .seed = 3,
						       .patterns = 1000};
	return scene;
}

static inline void scene_end(struct scene *scene)
{
	hd_pattern_free(scene->pattern);
	hd_ranks_free(scene->ranks);
	hd_routes_free(scene->routes);
	hd_fabric_free(scene->fabric);
}

static inline struct hd_congestion_report *run(const struct hd_congestion_request *request)
{
	struct hd_error err = {""};
	struct hd_congestion_report *report = NULL;

	CHECK(hd_congestion_run(request, &report, &err));
	return report;
}

#endif
