/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How sure a statistic of a few seeds is. */
#ifndef SIM_SCENARIO_INTERVAL_H
#define SIM_SCENARIO_INTERVAL_H

#include <heddle/sim/scenario.h>

struct scenario_interval {
	double low, high; /* both belong to it */
};

/* The 97.5% quantile of Student's t; degrees of freedom: at least 1. */
double scenario_interval_t(uint32_t freedom);

/*
 * Half of the width of the interval in which the statistic of `count` values with that standard
 * deviation is with 95% confidence; 0 for one value. Of the mean: t s / sqrt(n). Of an extreme: t s c(n), where c(n) is the standard deviation
 * of the largest of n draws from a standard normal distribution.
 */
double scenario_interval_half(enum hd_statistic statistic, uint32_t count, double deviation);

#endif
