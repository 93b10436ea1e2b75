/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_draw.h"

#include <heddle/base/random.h>
#include <math.h>
#include <string.h>

#define LN2 0.693147180559945309417232121458
#define SQRT_HALF 0.707106781186547524400844362105

/* value = mantissa * 2^exponent, mantissa in [sqrt(1/2), sqrt(2)); value is normal. */
static double split(double value, int *exponent)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	*exponent = (int)(bits >> 52 & 0x7FF) - 1022;
	bits = (bits & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(1022) << 52;
	memcpy(&value, &bits, sizeof(value));
	if (value < SQRT_HALF) {
		value *= 2;
		--*exponent;
	}
	return value;
}

/* ln m = 2 artanh((m - 1) / (m + 1)); the argument is at most 0.172, its series ends at 1e-17. */
double draw_logarithm(double value)
{
	static const double inverse[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
					 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,	 1.0};
	int exponent;
	double mantissa = split(value, &exponent);
	double t = (mantissa - 1) / (mantissa + 1), square = t * t, sum = 0;

	for (unsigned k = 0; k < sizeof(inverse) / sizeof(inverse[0]); k++)
		sum = sum * square + inverse[k];
	return 2 * t * sum + exponent * LN2;
}

/* e^x = (e^(x / 1024))^1024, the former by its series. */
double draw_power(double exponent)
{
	double x = exponent / 1024, sum = 1;

	for (int k = 12; k >= 1; k--)
		sum = 1 + sum * x / k;
	for (int k = 0; k < 10; k++)
		sum *= sum;
	return sum;
}

double draw_uniform(uint64_t *random)
{
	return ((double)(hd_random_next(random) >> 12) + 0.5) / 4503599627370496.0; /* 2^52 */
}

double draw_exponential(uint64_t *random)
{
	return -draw_logarithm(draw_uniform(random));
}

double draw_normal(uint64_t *random)
{
	double x, square;

	do {
		double y = 2 * draw_uniform(random) - 1;

		x = 2 * draw_uniform(random) - 1;
		square = x * x + y * y;
	} while (square >= 1);
	return x * sqrt(-2 * draw_logarithm(square) / square);
}

double draw_lognormal(uint64_t *random, double deviation)
{
	double variance = draw_logarithm(1 + deviation * deviation);

	return draw_power(sqrt(variance) * draw_normal(random) - variance / 2);
}

void draw_order(uint64_t *random, uint32_t *values, uint32_t count)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = (uint32_t)hd_random_below(random, i), kept = values[i - 1];

		values[i - 1] = values[j];
		values[j] = kept;
	}
}
