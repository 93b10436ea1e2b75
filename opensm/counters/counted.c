/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "counted.h"
#include "opensm_headers.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <math.h>
#include <opensm/osm_event_plugin.h>
#include <stdlib.h>
#include <string.h>

/* OpenSM's times are whole seconds, and ours are taken a moment later. */
#define CLOCKS_DIFFER_S 2.0
/* A port whose reading is older is not known any more. */
#define OLD_INTERVALS 10.0
#define OLD_S 60.0

/* Errors come with the ticks of waiting, data with packets; each kind has readings of its own. */
enum kind { KIND_ERRORS, KIND_DATA, KINDS };

struct counted_port {
	uint64_t guid; /* of the node */
	uint8_t port;
	double at[KINDS]; /* ms; of the last reading; 0: there was no reading */
	double seconds[KINDS]; /* between it and the one before; 0: there was one reading only */
	uint32_t known;
	uint64_t value[HD_COUNTERS];
};

static bool is_error(unsigned counter)
{
	return counter >= HD_SYMBOL_ERRORS;
}

static enum kind kind_of(unsigned counter)
{
	return is_error(counter) || counter == HD_XMIT_WAIT ? KIND_ERRORS : KIND_DATA;
}

void counted_init(struct counted *counted)
{
	*counted = (struct counted){0};
	pthread_mutex_init(&counted->lock, NULL);
}

void counted_release(struct counted *counted)
{
	hd_lookup_release(&counted->lookup);
	free(counted->ports);
	pthread_mutex_destroy(&counted->lock);
}

/* ---- readings ---- */

struct key {
	const struct counted_port *ports;
	uint64_t guid;
	uint8_t port;
};

static uint64_t hash_of(uint64_t guid, uint8_t port)
{
	return hd_hash_number(hd_hash_number(guid) + port);
}

static bool is_key(const void *context, uint32_t index)
{
	const struct key *key = context;

	return key->ports[index].guid == key->guid && key->ports[index].port == key->port;
}

static struct counted_port *find(const struct counted *counted, uint64_t guid, uint8_t port)
{
	const struct key key = {counted->ports, guid, port};
	uint32_t index = hd_lookup_find(&counted->lookup, hash_of(guid, port), is_key, &key);

	return index == HD_NONE ? NULL : &counted->ports[index];
}

/* NULL: there is no memory, or there are too many. */
static struct counted_port *add(struct counted *counted, uint64_t guid, uint8_t port)
{
	struct counted_port *ports =
	    counted->count == COUNTED_MOST
		? NULL
		: hd_grow(counted->ports, counted->count, 1, &counted->capacity, sizeof(*ports));

	if (!ports)
		return NULL;
	counted->ports = ports;
	if (hd_lookup_add(&counted->lookup, hash_of(guid, port), counted->count))
		return NULL;
	ports[counted->count] = (struct counted_port){.guid = guid, .port = port};
	return &ports[counted->count++];
}

/* Errors are added up; all else is that of the last time. */
static void take_value(struct counted *counted, struct counted_port *port, unsigned counter,
		       uint64_t value)
{
	if (!is_error(counter)) {
		port->value[counter] = value;
		return;
	}
	port->value[counter] += value;
	counted->errors[counter] += value;
}

static void note(struct counted *counted, struct counted_port *port,
		 const struct counted_reading *reading, double now)
{
	const enum kind kind =
	    reading->known & HD_COUNTER_BIT(HD_XMIT_DATA) ? KIND_DATA : KIND_ERRORS;
	const double seconds = (now - port->at[kind]) / 1000;
	const bool follows =
	    port->at[kind] > 0 && seconds > 0 && reading->seconds + CLOCKS_DIFFER_S >= seconds;

	port->at[kind] = now;
	if (!follows)
		return;
	port->seconds[kind] = seconds;
	port->known |= reading->known;
	for (unsigned i = 0; i < HD_COUNTERS; i++)
		if (reading->known & HD_COUNTER_BIT(i))
			take_value(counted, port, i, reading->value[i]);
}

void counted_note(struct counted *counted, const struct counted_reading *reading, double now)
{
	pthread_mutex_lock(&counted->lock);
	struct counted_port *port = find(counted, reading->guid, reading->port);
	if (!port)
		port = add(counted, reading->guid, reading->port);
	if (port)
		note(counted, port, reading, now);
	else
		counted->left_out++;
	pthread_mutex_unlock(&counted->lock);
}

/* ---- OpenSM's events ---- */

static struct counted_reading reading_of(const osm_epi_port_id_t *id, time_t seconds)
{
	return (struct counted_reading){
	    .guid = id->node_guid, .port = id->port_num, .seconds = (double)seconds};
}

static void set(struct counted_reading *reading, enum hd_counter counter, uint64_t value)
{
	reading->known |= HD_COUNTER_BIT(counter);
	reading->value[counter] = value;
}

void counted_data(struct counted *counted, const struct osm_epi_dc_event *event, double now)
{
	struct counted_reading reading = reading_of(&event->port_id, event->time_diff_s);

	set(&reading, HD_XMIT_DATA, event->xmit_data);
	set(&reading, HD_RCV_DATA, event->rcv_data);
	set(&reading, HD_XMIT_PACKETS, event->xmit_pkts);
	set(&reading, HD_RCV_PACKETS, event->rcv_pkts);
	counted_note(counted, &reading, now);
}

void counted_errors(struct counted *counted, const struct osm_epi_pe_event *event, double now)
{
	struct counted_reading reading = reading_of(&event->port_id, event->time_diff_s);

	set(&reading, HD_XMIT_WAIT, event->xmit_wait);
	set(&reading, HD_SYMBOL_ERRORS, event->symbol_err_cnt);
	set(&reading, HD_LINK_RECOVERIES, event->link_err_recover);
	set(&reading, HD_LINK_DOWNED, event->link_downed);
	set(&reading, HD_RCV_ERRORS, event->rcv_err);
	set(&reading, HD_RCV_REMOTE_ERRORS, event->rcv_rem_phys_err);
	set(&reading, HD_RCV_RELAY_ERRORS, event->rcv_switch_relay_err);
	set(&reading, HD_XMIT_DISCARDS, event->xmit_discards);
	set(&reading, HD_XMIT_CONSTRAINT_ERRORS, event->xmit_constraint_err);
	set(&reading, HD_RCV_CONSTRAINT_ERRORS, event->rcv_constraint_err);
	set(&reading, HD_LINK_INTEGRITY_ERRORS, event->link_integrity);
	set(&reading, HD_BUFFER_OVERRUNS, event->buffer_overrun);
	set(&reading, HD_VL15_DROPPED, event->vl15_dropped);
	counted_note(counted, &reading, now);
}

/* ---- what they say of a fabric ---- */

static bool is_current(const struct counted_port *port, enum kind kind, double now)
{
	return port->seconds[kind] > 0 &&
	       (now - port->at[kind]) / 1000 <= OLD_INTERVALS * port->seconds[kind] + OLD_S;
}

/* A copy of what the ports have counted, to be freed, so that the rest is done without the lock. NULL: no memory. */
static struct counted_port *copy(struct counted *counted, struct counted_sums *sums)
{
	pthread_mutex_lock(&counted->lock);
	struct counted_port *ports = malloc(((size_t)counted->count + 1) * sizeof(*ports));
	if (ports && counted->count)
		memcpy(ports, counted->ports, counted->count * sizeof(*ports));
	sums->ports = counted->count;
	sums->left_out = counted->left_out;
	memcpy(sums->errors, counted->errors, sizeof(sums->errors));
	pthread_mutex_unlock(&counted->lock);
	return ports;
}

static int by_size(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The median of the times of all ports; 0: no time is known. Errors: -ENOMEM. */
static int find_seconds(const struct counted_port *ports, uint32_t port_count, double now,
			double *out)
{
	double *times = calloc((size_t)port_count * KINDS + 1, sizeof(*times));
	size_t count = 0;

	if (!times)
		return -ENOMEM;
	for (uint32_t i = 0; i < port_count; i++)
		for (unsigned kind = 0; kind < KINDS; kind++)
			if (is_current(&ports[i], kind, now))
				times[count++] = ports[i].seconds[kind];
	qsort(times, count, sizeof(*times), by_size);
	*out = count ? times[count / 2] : 0;
	free(times);
	return 0;
}

static void take_port(const struct counted_port *from, double now, double seconds,
		      struct hd_port_counters *to)
{
	for (unsigned i = 0; i < HD_COUNTERS; i++) {
		const enum kind kind = kind_of(i);
		if (!(from->known & HD_COUNTER_BIT(i)) || !is_current(from, kind, now))
			continue;
		const double scale = is_error(i) ? 1 : seconds / from->seconds[kind];
		to->value[i] = is_error(i) ? from->value[i]
					   : (uint64_t)llround((double)from->value[i] * scale);
		to->known |= HD_COUNTER_BIT(i);
	}
}

static void take_ports(const struct counted_port *ports, uint32_t count,
		       const struct hd_fabric *fabric, double now, struct hd_counters *out)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = hd_fabric_find_node(fabric, ports[i].guid);
		if (node == HD_NONE || ports[i].port > hd_node_ports(fabric, node))
			continue;
		struct hd_port_counters *to =
		    &out->ports[hd_port_index(fabric, node, ports[i].port)];
		take_port(&ports[i], now, out->seconds, to);
		out->ports_read += to->known != 0;
	}
}

int counted_take(struct counted *counted, const struct hd_fabric *fabric, double now,
		 struct hd_counters **out, struct counted_sums *sums, struct hd_error *err)
{
	struct hd_counters *counters = hd_counters_new(fabric);
	struct counted_port *ports = copy(counted, sums);
	int rc =
	    counters && ports ? find_seconds(ports, sums->ports, now, &counters->seconds) : -ENOMEM;

	if (rc) {
		hd_counters_free(counters);
	} else {
		counters->dialect = "OpenSM's performance manager";
		take_ports(ports, sums->ports, fabric, now, counters);
		*out = counters;
	}
	free(ports);
	return rc ? hd_error_no_memory(err) : 0;
}
