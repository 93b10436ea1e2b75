/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/analysis/counters.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[HD_COUNTERS] = {
    [HD_XMIT_DATA] = "PortXmitData",
    [HD_RCV_DATA] = "PortRcvData",
    [HD_XMIT_PACKETS] = "PortXmitPkts",
    [HD_RCV_PACKETS] = "PortRcvPkts",
    [HD_XMIT_WAIT] = "PortXmitWait",
    [HD_SYMBOL_ERRORS] = "SymbolErrorCounter",
    [HD_LINK_RECOVERIES] = "LinkErrorRecoveryCounter",
    [HD_LINK_DOWNED] = "LinkDownedCounter",
    [HD_RCV_ERRORS] = "PortRcvErrors",
    [HD_RCV_REMOTE_ERRORS] = "PortRcvRemotePhysicalErrors",
    [HD_RCV_RELAY_ERRORS] = "PortRcvSwitchRelayErrors",
    [HD_XMIT_DISCARDS] = "PortXmitDiscards",
    [HD_XMIT_CONSTRAINT_ERRORS] = "PortXmitConstraintErrors",
    [HD_RCV_CONSTRAINT_ERRORS] = "PortRcvConstraintErrors",
    [HD_LINK_INTEGRITY_ERRORS] = "LocalLinkIntegrityErrors",
    [HD_BUFFER_OVERRUNS] = "ExcessiveBufferOverrunErrors",
    [HD_VL15_DROPPED] = "VL15Dropped",
    [HD_QP1_DROPPED] = "QP1Dropped",
};

const char *hd_counter_name(enum hd_counter counter)
{
	return names[counter];
}

bool hd_counter_is_fault(enum hd_counter counter)
{
	return counter == HD_SYMBOL_ERRORS || counter == HD_LINK_RECOVERIES ||
	       counter == HD_LINK_DOWNED || counter == HD_RCV_ERRORS ||
	       counter == HD_LINK_INTEGRITY_ERRORS || counter == HD_BUFFER_OVERRUNS;
}

struct hd_counters *hd_counters_new(const struct hd_fabric *fabric)
{
	struct hd_counters *counters = calloc(1, sizeof(*counters));

	if (!counters)
		return NULL;
	counters->port_count = fabric->port_count;
	counters->dialect = "";
	counters->ports = calloc((size_t)fabric->port_count + 1, sizeof(*counters->ports));
	if (!counters->ports) {
		free(counters);
		return NULL;
	}
	return counters;
}

void hd_counters_free(struct hd_counters *counters)
{
	if (!counters)
		return;
	free(counters->ports);
	free(counters);
}

/* Whether a counter of the port went back. */
static bool subtract_port(struct hd_port_counters *later, const struct hd_port_counters *earlier)
{
	bool back = false;

	later->known &= earlier->known;
	later->stopped |= earlier->stopped;
	for (unsigned i = 0; i < HD_COUNTERS; i++) {
		if (!(later->known & HD_COUNTER_BIT(i)))
			later->value[i] = 0;
		else if (later->value[i] < earlier->value[i])
			back = true;
		else
			later->value[i] -= earlier->value[i];
	}
	return back;
}

void hd_counters_subtract(struct hd_counters *later, const struct hd_counters *earlier)
{
	later->ports_read = later->ports_back = later->ports_full = 0;
	for (uint32_t port = 0; port < later->port_count; port++) {
		later->ports_back += subtract_port(&later->ports[port], &earlier->ports[port]);
		later->ports_read += later->ports[port].known != 0;
		later->ports_full += later->ports[port].stopped != 0;
	}
	later->seconds = later->seconds > earlier->seconds && earlier->seconds > 0
			     ? later->seconds - earlier->seconds
			     : 0;
	if (later->read_at > 0 && earlier->read_at > 0 && later->read_at > earlier->read_at)
		later->seconds = later->read_at - earlier->read_at;
	if (later->wait_tick <= 0)
		later->wait_tick = earlier->wait_tick;
}

void hd_counters_write(const struct hd_counters *counters, const struct hd_fabric *fabric,
		       FILE *stream)
{
	uint32_t known = 0;

	if (counters->seconds > 0)
		fprintf(stream, "# seconds %.12g\n", counters->seconds);
	if (counters->wait_tick > 0)
		fprintf(stream, "# wait_tick_seconds %.12g\n", counters->wait_tick);
	for (uint32_t port = 0; port < counters->port_count; port++)
		known |= counters->ports[port].known;
	fputs("guid,port", stream);
	for (unsigned i = 0; i < HD_COUNTERS; i++)
		if (known & HD_COUNTER_BIT(i))
			fprintf(stream, ",%s", names[i]);
	putc('\n', stream);
	for (uint32_t port = 0; port < counters->port_count; port++) {
		const struct hd_port_counters *row = &counters->ports[port];
		if (!row->known)
			continue;
		fprintf(stream, "0x%016" PRIx64 ",%" PRIu32,
			fabric->node_guid[fabric->port_node[port]], hd_port_number(fabric, port));
		for (unsigned i = 0; i < HD_COUNTERS; i++) {
			if (!(known & HD_COUNTER_BIT(i)))
				continue;
			putc(',', stream);
			if (row->known & HD_COUNTER_BIT(i))
				fprintf(stream, "%" PRIu64, row->value[i]);
		}
		putc('\n', stream);
	}
}
