/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random variables, the same on every machine: only additions, multiplications, divisions and square
 * roots of IEEE numbers, since the logarithms of C libraries differ in their last bits.
 */
#ifndef TRAFFIC_DRAW_H
#define TRAFFIC_DRAW_H

#include <stdint.h>

double draw_logarithm(double value); /* natural, value > 0 */
double draw_power(double exponent); /* e^exponent, |exponent| < 700 */

/* 0 < value < 1, 53 bits. */
double draw_uniform(uint64_t *random);

/* Mean 1. */
double draw_exponential(uint64_t *random);

/* Mean 0, variance 1 (G. Marsaglia's polar method). */
double draw_normal(uint64_t *random);

/* Log-normal with mean 1; `deviation` is the standard deviation over the mean. */
double draw_lognormal(uint64_t *random, double deviation);

/* A random order of values[count] (Fisher and Yates). */
void draw_order(uint64_t *random, uint32_t *values, uint32_t count);

#endif
