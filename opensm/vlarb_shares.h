/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The share of a link that multicast gets on its own virtual lane, as weights for InfiniBand's
 * arbitration. The arbitration serves the lanes round robin, each for up to its weight times 64
 * bytes.
 *
 * Source: Kim, Yum, Das et al., section 3.6.2 and figure 10f. The bandwidth of multicast to that of
 * all unicast lanes together is 1 : 1, d : 1, or 1 + ln d : 1. Here d is the number of destinations
 * of a multicast packet. (The paper's share grows with "the logarithm", which is 0 for one
 * destination. So we add 1: all three shares begin at 1 : 1.)
 */
#ifndef OPENSM_VLARB_SHARES_H
#define OPENSM_VLARB_SHARES_H

enum multicast_share { SHARE_SAME, SHARE_EQUAL, SHARE_LINEAR, SHARE_LOG };

struct share_weights {
	unsigned char unicast; /* for each lane of unicast, 1..255 */
	unsigned char multicast; /* 1..255 */
};

/*
 * The bandwidth of multicast as a multiple of that of unicast. It is 1 if `share` is SHARE_SAME.
 * `destinations` below 1 counts as 1.
 */
double vlarb_shares_ratio(enum multicast_share share, double destinations);

/*
 * The largest weights with this ratio for `lanes` lanes of unicast (at least 1). Large weights let
 * a lane send several packets at a time. If no weights have the ratio, it is the nearest possible
 * one.
 */
struct share_weights vlarb_shares_weights(double ratio, unsigned lanes);

#endif
