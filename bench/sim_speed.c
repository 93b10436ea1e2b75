/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-sim [K N LOAD MICROSECONDS [BYTES]]
 * heddle-bench-sim booksim LOAD MICROSECONDS [FLITS]
 *
 * Times the simulator: a K-ary N-tree with the tables of dmodk, in which each host sends packets of
 * BYTES bytes (default 2048) to uniformly chosen hosts, with exponential gaps, at LOAD times the
 * rate of its cable of 40 Gb/s. Without arguments: the tree of 64 hosts, and one of 1,728, at 0.6.
 * Prints packet-hops for each second of processor time, and the latency. A hop: a packet has left a
 * switch or a host.
 *
 * With `booksim`, the network of bench/booksim in the units of BookSim2: a cycle takes 1 ns, in
 * which a cable carries a flit of 125 bytes. Packets have FLITS flits (default 16), buffers 16
 * packets; a cable takes one cycle and a switch three. Each packet takes any of the 16 shortest paths, at random.
 */
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/fabric.h>
#include <heddle/sim.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct traffic {
	uint64_t *random; /* [hosts] */
	uint32_t hosts;
	uint32_t bytes;
	uint32_t offsets; /* LIDs of a host, among which each packet chooses one */
	double gap; /* ps between two packets of a host, on average */
	uint64_t end;
};

struct asked {
	const char *k, *n;
	double load;
	uint64_t microseconds;
	uint32_t bytes;
	bool booksim;
};

static void die(const char *reason)
{
	fprintf(stderr, "heddle-bench-sim: %s\n", reason);
	exit(1);
}

static void plan_next(struct traffic *traffic, struct hd_sim *sim, uint32_t host)
{
	double share = (double)(hd_random_next(&traffic->random[host]) >> 11) * 0x1p-53;
	uint64_t when = hd_sim_now(sim) + (uint64_t)(-log1p(-share) * traffic->gap);

	if (when < traffic->end)
		hd_sim_wake(sim, when, host);
}

static int start(void *context, struct hd_sim *sim, struct hd_error *err)
{
	struct traffic *traffic = context;

	(void)err;
	for (uint32_t host = 0; host < traffic->hosts; host++) {
		traffic->random[host] = hd_sim_stream(sim, host);
		plan_next(traffic, sim, host);
	}
	return 0;
}

static void wake(void *context, struct hd_sim *sim, uint64_t token)
{
	struct traffic *traffic = context;
	uint32_t host = (uint32_t)token;
	uint32_t other =
	    (uint32_t)hd_random_below(&traffic->random[host], (uint64_t)traffic->hosts - 1);
	struct hd_sim_message message = {
	    .source = host,
	    .destination = other + (other >= host),
	    .bytes = traffic->bytes,
	    .flow = HD_NONE,
	    .lid_offset = (uint16_t)hd_random_below(&traffic->random[host], traffic->offsets),
	    .lane = HD_SIM_LANE_OF_SL};

	hd_sim_send(sim, &message);
	plan_next(traffic, sim, host);
}

static struct hd_fabric *make_fabric(const struct asked *asked)
{
	const struct hd_generator *generator = hd_generator_find("kary-ntree");
	struct hd_options *options = hd_options_new(generator->options, generator->option_count);
	struct hd_fabric *fabric = NULL;
	struct hd_error err;

	if (!options || hd_options_set(options, "k", asked->k, &err) ||
	    hd_options_set(options, "n", asked->n, &err) ||
	    generator->generate(options, &fabric, &err))
		die("no such tree");
	hd_options_free(options);
	if (asked->booksim) {
		struct hd_fabric *more = NULL;
		if (hd_fabric_assign_lids(fabric, 4, &more, &err))
			die(err.text);
		hd_fabric_free(fabric);
		fabric = more;
	}
	return fabric;
}

/* Tables of dmodk; with 16 LIDs a host, offset 4 a + b goes up by port b at leaves, a above them. */
static struct hd_routes *make_routes(const struct asked *asked, const struct hd_fabric *fabric)
{
	const struct hd_route_request request = {.fabric = fabric};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};

	if (hd_engine_route(hd_engine_find("dmodk"), &request, &routes, &err))
		die(err.text);
	for (uint32_t sw = 0; asked->booksim && sw < fabric->switch_count; sw++) {
		bool is_leaf = hd_has_adapters(fabric, sw);
		for (uint32_t lid = 0; lid < fabric->lid_count; lid++) {
			uint8_t *port = &hd_routes_row(routes, sw)[lid];
			uint32_t owner = fabric->lid_owner[lid], offset;
			if (owner == HD_NONE || *port == HD_NO_PORT || *port <= 4)
				continue;
			offset = lid - fabric->lid[owner];
			*port = (uint8_t)(5 + (is_leaf ? offset % 4 : offset / 4 % 4));
		}
	}
	return routes;
}

static struct hd_sim_settings make_settings(const struct asked *asked)
{
	struct hd_sim_settings settings = hd_sim_settings_default();

	settings.forced_rate = UINT64_C(40000000000);
	settings.warm_up = asked->microseconds * HD_SIM_MICROSECOND / 10;
	if (!asked->booksim)
		return settings;
	settings.forced_rate = UINT64_C(1000000000000);
	settings.mtu = asked->bytes;
	settings.header = 0;
	settings.link_latency = 1000;
	settings.switch_latency = 3000;
	settings.buffer = settings.host_buffer = 16 * asked->bytes;
	return settings;
}

static double processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void report(const struct asked *asked, struct hd_sim *sim, double seconds)
{
	struct hd_sim_figures figures;
	const struct hd_sim_histogram *latency;

	hd_sim_figures(sim, &figures);
	latency = &figures.classes[0].message;
	printf("%s-ary %s-tree, load %.2f, %" PRIu64 " us: %" PRIu64 " packets, %" PRIu64
	       " hops, %" PRIu64 " events, %.2f s: %.2f million packet-hops/s; latency %.4f us, "
	       "99%% %.4f us\n",
	       asked->k, asked->n, asked->load, asked->microseconds, figures.packets, figures.hops,
	       figures.events, seconds, (double)figures.hops / seconds * 1e-6, latency->mean * 1e-6,
	       (double)hd_sim_histogram_quantile(latency, 0.99) * 1e-6);
}

static void measure(const struct asked *asked)
{
	struct hd_fabric *fabric = make_fabric(asked);
	struct hd_sim_settings settings = make_settings(asked);
	struct traffic traffic = {
	    .hosts = fabric->host_count, .bytes = asked->bytes, .offsets = asked->booksim ? 16 : 1};
	struct hd_sim_workload workload = {.start = start, .wake = wake, .context = &traffic};
	struct hd_routes *routes = make_routes(asked, fabric);
	struct hd_sim_subnet subnet = {.fabric = fabric};
	struct hd_sim_network network = {.subnets = &subnet, .subnet_count = 1};
	struct hd_sim *sim = NULL;
	enum hd_sim_end end;
	struct hd_error err = {""};

	traffic.end = asked->microseconds * HD_SIM_MICROSECOND;
	traffic.gap =
	    8e12 * (asked->bytes + settings.header) / (double)settings.forced_rate / asked->load;
	traffic.random = calloc(traffic.hosts, sizeof(*traffic.random));
	if (!traffic.random)
		die("no memory");
	subnet.routes = routes;
	if (hd_sim_new(&network, &settings, &workload, &sim, &err))
		die(err.text);
	double begin = processor_time();
	if (hd_sim_run(sim, traffic.end, &end, &err) || end == HD_SIM_DEADLOCK)
		die(err.text);
	report(asked, sim, processor_time() - begin);
	hd_sim_free(sim);
	free(traffic.random);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

int main(int argc, char **argv)
{
	if (argc >= 4 && !strcmp(argv[1], "booksim")) {
		uint32_t flits = argc > 4 ? (uint32_t)atoi(argv[4]) : 16;
		measure(&(struct asked){"4", "3", atof(argv[2]), strtoull(argv[3], NULL, 10),
					flits * 125, true});
		return 0;
	}
	if (argc >= 5) {
		measure(&(struct asked){argv[1], argv[2], atof(argv[3]),
					strtoull(argv[4], NULL, 10),
					argc > 5 ? (uint32_t)atoi(argv[5]) : 2048, false});
		return 0;
	}
	measure(&(struct asked){"4", "3", 0.6, 20000, 2048, false});
	measure(&(struct asked){"12", "3", 0.6, 1000, 2048, false});
	return 0;
}
