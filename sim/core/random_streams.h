/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbers of all random streams of the simulator. No two uses share one, and none changes:
 * results would.
 */
#ifndef SIM_RANDOM_STREAMS_H
#define SIM_RANDOM_STREAMS_H

/* Streams of hd_sim_stream(). Those of traffic have other numbers: they begin at a hash of its name. */
enum sim_stream_number {
	SIM_STREAM_CONGA = 0xC0119A, /* which one of equally congested ports CONGA takes */
};

/* Streams of one traffic, of traffic_stream(). Each begins where the ones before cannot reach. */
enum traffic_stream_number {
	/* + number of the host, the flow or the video stream: when it sends, how much, and to whom */
	TRAFFIC_STREAM_SENDERS = 0,
	TRAFFIC_STREAM_PERMUTATION = 0x10000000, /* the order of destinations */
	TRAFFIC_STREAM_HOT = 0x10000001, /* the hot destination of each domain */
	TRAFFIC_STREAM_GROUPS =
	    0x20000000, /* + host: members of the multicast groups of its video */
	TRAFFIC_STREAM_PLACES = 0x30000000, /* the hosts of each application */
	TRAFFIC_STREAM_TURNS = 0x40000000, /* the sizes of phases */
	TRAFFIC_STREAM_ORDERS = 0x40000001, /* + application: the order of its phases */
	TRAFFIC_STREAM_RINGS = 0x50000000, /* + ring: the order of its hosts */
};

#endif
