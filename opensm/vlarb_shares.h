/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of a link multicast gets where it has a virtual lane of its own: weights for
 * InfiniBand's arbitration between lanes, which serves each lane in turn for up to its weight
 * times 64 bytes.
 *
 * Source: Kim, Yum, Das et al., section 3.6.2 and figure 10f. The bandwidth of multicast is to that
 * of unicast, all its lanes together, as 1 : 1, as d : 1, or as 1 + ln d : 1, where d is the number
 * of destinations of a multicast packet. (The paper's share grows with "the logarithm"; of
 * one destination that would be no share at all, so here all three begin at 1 : 1.)
 */
#ifndef OPENSM_VLARB_SHARES_H
#define OPENSM_VLARB_SHARES_H

enum multicast_share { SHARE_SAME, SHARE_EQUAL, SHARE_LINEAR, SHARE_LOG };

struct share_weights {
	unsigned char unicast; /* of each lane of unicast, 1..255 */
	unsigned char multicast; /* 1..255 */
};

/*
 * Bandwidth of multicast as a multiple of that of unicast; 1 where `share` is SHARE_SAME.
 * `destinations` below 1 counts as 1.
 */
double vlarb_shares_ratio(enum multicast_share share, double destinations);

/*
 * The largest weights that have that ratio for `lanes` lanes of unicast (at least 1), so that a
 * turn is long against a packet; where even 1 a lane is too much, the nearest ratio there is.
 */
struct share_weights vlarb_shares_weights(double ratio, unsigned lanes);

#endif
