/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The load at which a fabric is full, by calculation: what each link carries of traffic that all hosts send to all
 * others alike, by the tables. Packets with path bits are taken to use all LIDs of a host alike.
 */
#include "scenario_parts.h"

#include <heddle/sim/units.h>

#include <stdlib.h>
#include <string.h>

struct loads {
	const struct scenario_simulation *simulation;
	double **load; /* [subnet][port of its fabric] bits/s */
	double weight; /* of the message at hand */
	const struct hd_go_on *go_on;
};

/* One of the traffics, if it goes to all hosts alike. */
struct even {
	double share; /* of a host's cable */
	double remote; /* share to other subnets; negative: all hosts alike */
	uint32_t first; /* LID offset */
	uint32_t lids; /* from there on, all alike; 0: all */
};

static bool has(const struct hd_options *options, const char *key, const char *text)
{
	return !strcmp(hd_options_get(options, key)->text, text);
}

static bool read_share(const struct hd_options *options, const char *key, double *share)
{
	uint64_t millionths;

	if (hd_sim_parse_share(hd_options_get(options, key)->text, &millionths, NULL))
		return false;
	*share = (double)millionths / 1e6;
	return true;
}

/* "N", "random" or "random:N-M"; it has been checked. */
static void read_lids(const char *offset, struct even *out)
{
	char *end;

	if (!strcmp(offset, "random"))
		return;
	out->lids = 1;
	out->first =
	    (uint32_t)strtoul(strncmp(offset, "random:", 7) ? offset : offset + 7, &end, 10);
	if (*end == '-')
		out->lids = (uint32_t)strtoul(end + 1, NULL, 10) - out->first + 1;
}

static bool read_even(const struct hd_traffic_request *request, struct even *out)
{
	const struct hd_options *options = request->options;
	bool video = !strcmp(request->kind->name, "video"), fine;
	double multicast = 0, hot = 0;

	if (!video && strcmp(request->kind->name, "constant") != 0 &&
	    strcmp(request->kind->name, "poisson") != 0)
		return false;
	fine = !video || (read_share(options, "multicast", &multicast) &&
			  !hd_options_get(options, "streams")->number);
	fine &= read_share(options, video ? "load" : "rate", &out->share);
	fine &= read_share(options, "hot", &hot) && has(options, "to", "uniform");
	out->remote = -1;
	fine &= has(options, "remote", "any") || read_share(options, "remote", &out->remote);
	if (has(options, "routing", "deterministic"))
		read_lids(hd_options_get(options, "offset")->text, out);
	if (video && !has(options, "reserve", "0"))
		out->lids =
		    1; /* the first of the shortest paths, for as long as it has bandwidth left */
	return fine && multicast == 0 && hot == 0 && has(options, "hosts", "all") &&
	       !has(options, "routing", "adaptive");
}

static double rate_of(const struct loads *loads, uint32_t subnet, uint32_t port)
{
	const struct hd_sim_settings *settings = &loads->simulation->settings;
	double rate = 1e9 * hd_port_rate(loads->simulation->network.subnets[subnet].fabric, port);

	if (settings->forced_rate)
		return (double)settings->forced_rate;
	return rate > 0 ? rate : (double)settings->bit_rate;
}

static void load_add(void *context, uint32_t subnet, uint32_t port)
{
	const struct loads *loads = context;

	loads->load[subnet][port] += loads->weight;
}

struct place {
	uint32_t subnet, host;
};

/* Share of a host's messages that each of `hosts` others gets; one of them is in the same subnet, or not. */
static double share_of(const struct even *even, bool same, uint32_t own, uint32_t all)
{
	if (even->remote < 0)
		return 1.0 / (all - 1);
	if (same)
		return own > 1 ? (1 - even->remote) / (own - 1) : 0;
	return all > own ? even->remote / (all - own) : 0;
}

static void add_pair(struct loads *loads, const struct even *even, struct place from,
		     struct place to, double weight)
{
	const struct hd_sim *sim = loads->simulation->sim;

	/* How many LIDs of a host its messages go to. */
	uint32_t host = to.host;
	const struct hd_fabric *fabric = loads->simulation->network.subnets[to.subnet].fabric;
	uint32_t lids =
	    even->lids ? even->lids : hd_port_lid_count(fabric, fabric->host_port[host]);
	struct hd_sim_message message = {.source = hd_sim_endpoint(sim, from.subnet, from.host),
					 .destination = hd_sim_endpoint(sim, to.subnet, to.host),
					 .bytes = 1,
					 .flow = HD_NONE,
					 .sl = HD_SIM_SL_OF_ROUTES,
					 .lane = 0};

	loads->weight = weight / lids;
	for (uint32_t offset = 0; offset < lids; offset++) {
		message.lid_offset = (uint16_t)(even->first + offset);
		hd_sim_follow(sim, &message, load_add, loads, NULL);
	}
}

/* Whether a host of a fabric sends: router ports do not. */
static bool sends(const struct loads *loads, struct place place)
{
	const struct hd_sim *sim = loads->simulation->sim;
	uint32_t endpoint = hd_sim_endpoint(sim, place.subnet, place.host);
	const struct hd_sim_message message = {.source = endpoint,
					       .destination = endpoint,
					       .bytes = 1,
					       .flow = HD_NONE,
					       .sl = HD_SIM_SL_OF_ROUTES};

	return !hd_sim_follow(sim, &message, load_add, NULL, NULL);
}

static double largest(const struct loads *loads)
{
	const struct hd_sim_network *network = &loads->simulation->network;
	double most = 0;

	for (uint32_t subnet = 0; subnet < network->subnet_count; subnet++)
		for (uint32_t port = 0; port < network->subnets[subnet].fabric->port_count; port++)
			if (loads->load[subnet][port] > 0) {
				double share =
				    loads->load[subnet][port] / rate_of(loads, subnet, port);
				most = share > most ? share : most;
			}
	return most;
}

static bool load_allocate(struct loads *loads, struct place **places)
{
	const struct hd_sim_network *network = &loads->simulation->network;
	uint32_t hosts = 0;
	bool fine = true;

	loads->load = calloc(network->subnet_count, sizeof(*loads->load));
	for (uint32_t i = 0; loads->load && i < network->subnet_count; i++) {
		loads->load[i] =
		    calloc(network->subnets[i].fabric->port_count + 1u, sizeof(**loads->load));
		hosts += network->subnets[i].fabric->host_count;
		fine &= loads->load[i] != NULL;
	}
	*places = calloc(hosts + 1u, sizeof(**places));
	return loads->load && fine && *places;
}

/* The load that all traffics offer; 0: one of them does not go to all hosts alike. */
static double add_all(struct loads *loads, const struct place *places, uint32_t count)
{
	const struct scenario_point *point = loads->simulation->point;
	double offered = 0;

	for (uint32_t i = 0; i < point->traffic_count; i++) {
		struct even even = {.share = 0};
		if (!strcmp(point->traffics[i].kind->name, "control"))
			continue; /* next to nothing */
		if (!read_even(&point->traffics[i], &even) ||
		    (even.remote >= 0 && loads->simulation->network.subnet_count == 1))
			return 0;
		offered += even.share;
		for (uint32_t j = 0; j < count && hd_go_on_ask(loads->go_on); j++) {
			const struct hd_fabric *fabric =
			    loads->simulation->network.subnets[places[j].subnet].fabric;
			double rate =
			    rate_of(loads, places[j].subnet, fabric->host_port[places[j].host]);
			uint32_t own = 0;
			for (uint32_t k = 0; k < count; k++)
				own += places[k].subnet == places[j].subnet;
			for (uint32_t k = 0; k < count; k++) {
				bool same = places[k].subnet == places[j].subnet;
				double share = share_of(&even, same, own, count);
				if (k != j && share > 0)
					add_pair(loads, &even, places[j], places[k],
						 rate * even.share * share);
			}
		}
	}
	return offered;
}

void scenario_load_record(const struct scenario_simulation *simulation,
			  const struct hd_go_on *go_on, struct hd_record *record)
{
	struct loads loads = {.simulation = simulation, .go_on = go_on};
	struct place *places = NULL;
	double offered = 0, most = 0;

	if (load_allocate(&loads, &places)) {
		const struct hd_sim_network *network = &loads.simulation->network;
		uint32_t count = 0;

		for (uint32_t subnet = 0; subnet < network->subnet_count; subnet++)
			for (uint32_t host = 0; host < network->subnets[subnet].fabric->host_count;
			     host++) {
				places[count] = (struct place){subnet, host};
				count += sends(&loads, places[count]);
			}

		if (count > 1)
			offered = add_all(&loads, places, count);
		if (offered > 0 && hd_go_on_ask(go_on))
			most = largest(&loads);
	} else {
		record->failed = true;
	}
	if (most > 0) {
		hd_record_add(record, "load.offered", "1", offered);
		hd_record_add(record, SCENARIO_LOAD_FULL, "1", offered / most);
	}
	for (uint32_t i = 0; loads.load && i < loads.simulation->network.subnet_count; i++)
		free(loads.load[i]);
	free(loads.load);
	free(places);
}
