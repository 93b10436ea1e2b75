/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "handshake_state.h"

#include <string.h>

static void begin(struct hd_handshake_session *to, struct hd_router_message *message,
		  struct hd_router_writer *writer)
{
	hd_router_session_stamp(&to->session, message);
	hd_router_write_begin(writer, to->handshake->bytes, sizeof(to->handshake->bytes), message);
}

static void end(struct hd_handshake_session *to, struct hd_router_writer *writer)
{
	const struct hd_handshake_hooks *hooks = &to->handshake->hooks;
	uint32_t length = hd_router_write_end(writer);

	hooks->send(hooks->context, to->connection, to->handshake->bytes, length);
}

void handshake_send_plain(struct hd_handshake_session *to, struct hd_router_message message)
{
	struct hd_router_writer writer;

	begin(to, &message, &writer);
	end(to, &writer);
}

static void send_ports(struct hd_handshake_session *to, uint32_t *count)
{
	const struct hd_handshake *handshake = to->handshake;
	const struct hd_handshake_lists *lists = &handshake->lists;
	uint32_t most = hd_router_entries_max(HD_ROUTER_PORTS, HD_ROUTER_MESSAGE_MAX);
	struct hd_router_message message = {
	    .type = HD_ROUTER_PORTS, .epoch = handshake->epoch, .prefix = handshake->prefix};
	struct hd_router_writer writer;

	*count = 0;
	begin(to, &message, &writer);
	for (uint32_t i = 0; i < lists->port_count && *count < most; i++) {
		const struct hd_handshake_port *port = &lists->ports[i];
		struct hd_router_port_entry entry = {.guid = port->guid,
						     .switch_guid = port->switch_guid,
						     .lid = port->lid,
						     .switch_lid = port->switch_lid,
						     .switch_port = port->switch_port};

		if (port->router_guid != to->session.node_guid)
			continue;
		memcpy(entry.down, port->down, sizeof(entry.down));
		hd_router_write_port(&writer, &entry);
		(*count)++;
	}
	end(to, &writer);
}

static void write_hosts(struct hd_router_writer *writer, uint64_t prefix,
			const struct hd_handshake_host *hosts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct hd_router_host_entry entry = {.gid = {prefix, hosts[i].guid},
							   .top_switch = hosts[i].top_switch,
							   .place = hosts[i].place,
							   .lid = hosts[i].lid};

		hd_router_write_host(writer, &entry);
	}
}

/* A list of hosts in as many messages as it takes. *message has type, epoch, prefix and hops. */
static void send_hosts(struct hd_handshake_session *to, struct hd_router_message message,
		       const struct hd_handshake_host *hosts, uint32_t total)
{
	uint32_t most = hd_router_entries_max(message.type, HD_ROUTER_MESSAGE_MAX), count;

	message.total = total;
	for (; message.first < total; message.first += count) {
		struct hd_router_writer writer;

		count = total - message.first < most ? total - message.first : most;
		begin(to, &message, &writer);
		write_hosts(&writer, message.prefix, hosts + message.first, count);
		end(to, &writer);
	}
}

static void send_map(struct hd_handshake_session *to)
{
	const struct hd_handshake_lists *lists = &to->handshake->lists;
	uint32_t most = hd_router_entries_max(HD_ROUTER_MAP, HD_ROUTER_MESSAGE_MAX), count;
	struct hd_router_message message = {.type = HD_ROUTER_MAP,
					    .epoch = to->handshake->epoch,
					    .prefix = to->handshake->prefix,
					    .total = lists->mapped_count};

	for (; message.first < message.total; message.first += count) {
		struct hd_router_writer writer;

		count = message.total - message.first;
		count = count < most ? count : most;
		begin(to, &message, &writer);
		for (uint32_t i = 0; i < count; i++) {
			const struct hd_handshake_mapped *at = &lists->mapped[message.first + i];
			const struct hd_router_map_entry entry = {{at->prefix, at->guid},
								  at->port_guid};

			hd_router_write_map(&writer, &entry);
		}
		end(to, &writer);
	}
}

void handshake_send_epoch(struct hd_handshake_session *to)
{
	const struct hd_handshake *handshake = to->handshake;
	struct hd_router_message message = {
	    .type = HD_ROUTER_HOSTS, .epoch = handshake->epoch, .prefix = handshake->prefix};
	uint32_t ports;

	send_ports(to, &ports);
	send_hosts(to, message, handshake->lists.hosts, handshake->lists.host_count);
	send_map(to);
	message.type = HD_ROUTER_READY;
	message.ports = ports;
	message.hosts = handshake->lists.host_count;
	message.mapped = handshake->lists.mapped_count;
	handshake_send_plain(to, message);
}

void handshake_send_foreign(struct hd_handshake_session *to,
			    const struct hd_handshake_foreign *list)
{
	const struct hd_router_message message = {.type = HD_ROUTER_FOREIGN,
						  .epoch = list->epoch,
						  .prefix = list->prefix,
						  .hops = list->hops};

	send_hosts(to, message, list->hosts, list->host_count);
}

void handshake_send_prefixes(struct hd_handshake_session *to,
			     const struct hd_router_message *message)
{
	struct hd_router_message copy = *message;
	struct hd_router_prefix_entry entry;
	struct hd_router_writer writer;

	begin(to, &copy, &writer);
	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_prefix_at(message, i, &entry);
		hd_router_write_prefix(&writer, &entry);
	}
	end(to, &writer);
}

void handshake_send_refusal(struct hd_handshake_session *to, uint64_t sequence, uint16_t type,
			    enum hd_router_reason reason)
{
	const struct hd_handshake_hooks *hooks = &to->handshake->hooks;
	uint8_t bytes[HD_ROUTER_HEADER + 64];
	uint32_t length =
	    hd_router_session_refuse(&to->session, sequence, type, reason, bytes, sizeof(bytes));

	hooks->send(hooks->context, to->connection, bytes, length);
}
