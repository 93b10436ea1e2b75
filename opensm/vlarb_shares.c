/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "vlarb_shares.h"

#include <math.h>

#define WEIGHT_MAX 255

double vlarb_shares_ratio(enum multicast_share share, double destinations)
{
	double count = destinations > 1 ? destinations : 1;

	switch (share) {
	case SHARE_LINEAR:
		return count;
	case SHARE_LOG:
		return 1 + log(count);
	default:
		return 1;
	}
}

struct share_weights vlarb_shares_weights(double ratio, unsigned lanes)
{
	double total = ratio * lanes; /* the weight of multicast if a unicast lane has 1 */
	double unicast = floor(WEIGHT_MAX / total);
	double multicast;

	if (unicast < 1)
		unicast = 1;
	multicast = round(total * unicast);
	if (multicast > WEIGHT_MAX)
		multicast = WEIGHT_MAX;
	return (struct share_weights){(unsigned char)unicast, (unsigned char)multicast};
}
