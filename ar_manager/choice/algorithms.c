/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "algorithms.h"

#include <string.h>

const struct planner_algorithm *const algorithms_all[ALGORITHMS_COUNT] = {
    &planner_dfp, &planner_tree, &planner_lag};

const char *hd_ar_algorithm_name(enum hd_ar_algorithm algorithm)
{
	for (size_t i = 0; i < ALGORITHMS_COUNT; i++)
		if (algorithms_all[i]->algorithm == algorithm)
			return algorithms_all[i]->name;
	return "auto";
}

bool hd_ar_algorithm_find(const char *name, enum hd_ar_algorithm *out)
{
	for (size_t i = 0; i < ALGORITHMS_COUNT; i++)
		if (!strcmp(algorithms_all[i]->name, name)) {
			*out = algorithms_all[i]->algorithm;
			return true;
		}
	if (strcmp(name, "auto"))
		return false;
	*out = HD_AR_AUTO;
	return true;
}
