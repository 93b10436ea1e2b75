/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The content of a handshake, for its files. */
#include <errno.h>
#include <heddle/ir_router/handshake.h>
#include <inttypes.h>
#include <router_session.h>
#include <stdlib.h>
#include <string.h>

/* ---- the state ---- */

/* A list that is coming in parts. */
struct handshake_part {
	struct hd_handshake_host *hosts; /* [total]; NULL: none is coming */
	uint64_t prefix, epoch;
	uint32_t total, count, hops;
};

struct hd_handshake_session {
	struct hd_handshake_session *next;
	struct hd_handshake *handshake;
	struct hd_router_session session;
	void *connection;
	bool broken;
	uint32_t used; /* bytes of a message that is not complete */
	struct handshake_part part;
	uint8_t bytes[HD_ROUTER_MESSAGE_MAX];
};

struct hd_handshake {
	struct hd_handshake_hooks hooks;
	uint64_t prefix, epoch;
	uint64_t now_ms; /* of the last hd_handshake_tick() */
	bool published;
	struct hd_handshake_session *sessions;
	struct hd_handshake_port *ports;
	struct hd_handshake_host *hosts;
	struct hd_handshake_mapped *mapped;
	struct hd_handshake_lists lists; /* points to those three */
	struct hd_handshake_foreign foreign[HD_HANDSHAKE_FOREIGN_MAX]; /* by prefix */
	uint32_t foreign_count;
	uint8_t bytes[HD_ROUTER_MESSAGE_MAX]; /* for writing */
};

/* ---- messages to routers ---- */

/* Writes messages to routers. */

void handshake_send_refusal(struct hd_handshake_session *to, uint64_t sequence, uint16_t type,
			    enum hd_router_reason reason);

static void handshake_begin(struct hd_handshake_session *to, struct hd_router_message *message,
			    struct hd_router_writer *writer)
{
	hd_router_session_stamp(&to->session, message);
	hd_router_write_begin(writer, to->handshake->bytes, sizeof(to->handshake->bytes), message);
}

static void handshake_end(struct hd_handshake_session *to, struct hd_router_writer *writer)
{
	const struct hd_handshake_hooks *hooks = &to->handshake->hooks;
	uint32_t length = hd_router_write_end(writer);

	hooks->send(hooks->context, to->connection, to->handshake->bytes, length);
}

/* A message without entries. */
static void handshake_send_plain(struct hd_handshake_session *to, struct hd_router_message message)
{
	struct hd_router_writer writer;

	handshake_begin(to, &message, &writer);
	handshake_end(to, &writer);
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
	handshake_begin(to, &message, &writer);
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
	handshake_end(to, &writer);
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
		handshake_begin(to, &message, &writer);
		write_hosts(&writer, message.prefix, hosts + message.first, count);
		handshake_end(to, &writer);
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
		handshake_begin(to, &message, &writer);
		for (uint32_t i = 0; i < count; i++) {
			const struct hd_handshake_mapped *at = &lists->mapped[message.first + i];
			const struct hd_router_map_entry entry = {{at->prefix, at->guid},
								  at->port_guid};

			hd_router_write_map(&writer, &entry);
		}
		handshake_end(to, &writer);
	}
}

/* The whole epoch in force. */
static void handshake_send_epoch(struct hd_handshake_session *to)
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

/* A list of another subnet. */
static void handshake_send_foreign(struct hd_handshake_session *to,
				   const struct hd_handshake_foreign *list)
{
	const struct hd_router_message message = {.type = HD_ROUTER_FOREIGN,
						  .epoch = list->epoch,
						  .prefix = list->prefix,
						  .hops = list->hops};

	send_hosts(to, message, list->hosts, list->host_count);
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

/* Lists of other subnets, which routers hand over in parts, and repeat. */

#define PASS_ON_MS 20000u /* between two times that a list is passed on, if it has not changed */

/* The place of a prefix among the known lists, or where it belongs. */
static uint32_t place_of(const struct hd_handshake *handshake, uint64_t prefix)
{
	uint32_t at = 0;

	while (at < handshake->foreign_count && handshake->foreign[at].prefix < prefix)
		at++;
	return at;
}

/* The known list of a prefix, or NULL. */
static struct hd_handshake_foreign *handshake_find(struct hd_handshake *handshake, uint64_t prefix)
{
	uint32_t at = place_of(handshake, prefix);
	bool known = at < handshake->foreign_count && handshake->foreign[at].prefix == prefix;

	return known ? &handshake->foreign[at] : NULL;
}

/*
 * A list counts if it is newer than the known one. Of the same age, the shorter way counts. A router hands lists over
 * in the order in which they were made. So a lower epoch from the router that has handed over the known list is no old
 * list: the subnet manager there has restarted, and its clock was set back. Over another way it could be an old one.
 */
static bool is_news(const struct hd_handshake_session *session,
		    const struct hd_handshake_foreign *known,
		    const struct hd_router_message *message)
{
	if (!known || message->epoch > known->epoch)
		return true;
	if (message->epoch == known->epoch)
		return message->hops < known->hops;
	return message->hops == known->hops && known->router_guid == session->session.node_guid;
}

/* Forgets a list that has not come completely. */
static void handshake_foreign_abandon(struct hd_handshake_session *session)
{
	free(session->part.hosts);
	session->part = (struct handshake_part){0};
}

static int begin_part(struct hd_handshake_session *session, const struct hd_router_message *message,
		      enum hd_router_reason *reason)
{
	handshake_foreign_abandon(session);
	if (message->total > HD_HANDSHAKE_HOSTS_MAX) {
		*reason = HD_ROUTER_TOO_MANY;
		return 0;
	}
	session->part = (struct handshake_part){
	    .hosts = calloc(message->total + 1, sizeof(*session->part.hosts)),
	    .prefix = message->prefix,
	    .epoch = message->epoch,
	    .total = message->total,
	    .hops = message->hops};
	return session->part.hosts ? 0 : -ENOMEM;
}

/* Whether the message goes on where the part ends. */
static bool continues(const struct handshake_part *part, const struct hd_router_message *message)
{
	return part->hosts && part->prefix == message->prefix && part->epoch == message->epoch &&
	       part->total == message->total && part->hops == message->hops &&
	       part->count == message->first;
}

static enum hd_router_reason handshake_append(struct handshake_part *part,
					      const struct hd_router_message *message)
{
	struct hd_router_host_entry entry;

	for (uint32_t i = 0; i < message->count; i++) {
		hd_router_host_at(message, i, &entry);
		if (part->count && part->hosts[part->count - 1].guid >= entry.gid.guid)
			return HD_ROUTER_NOT_SORTED;
		part->hosts[part->count++] = (struct hd_handshake_host){
		    .guid = entry.gid.guid, .top_switch = entry.top_switch, .place = entry.place};
	}
	return HD_ROUTER_OK;
}

/* Puts the complete list in its place. */
static const struct hd_handshake_foreign *handshake_keep(struct hd_handshake_session *session)
{
	struct hd_handshake *handshake = session->handshake;
	struct handshake_part *part = &session->part;
	struct hd_handshake_foreign *list = handshake_find(handshake, part->prefix);

	if (list && part->epoch < list->epoch) {
		hd_log(&session->handshake->hooks.log, HD_LOG_WARNING,
		       "router 0x%016" PRIx64 ": the epochs of subnet 0x%016" PRIx64
		       " have gone back from %" PRIu64 " to %" PRIu64
		       ", as after a clock that was set back; the new list counts",
		       session->session.node_guid, list->prefix, list->epoch, session->part.epoch);
	}
	if (!list) {
		/* Makes room for the list of a prefix, which is not known. */
		uint64_t prefix = part->prefix;
		uint32_t at = place_of(handshake, prefix);
		list = &handshake->foreign[at];
		memmove(list + 1, list, (handshake->foreign_count - at) * sizeof(*list));
		handshake->foreign_count++;
		*list = (struct hd_handshake_foreign){.prefix = prefix};
	}
	free(list->hosts);
	*list = (struct hd_handshake_foreign){.prefix = part->prefix,
					      .epoch = part->epoch,
					      .hops = part->hops,
					      .hosts = part->hosts,
					      .host_count = part->count,
					      .router_guid = session->session.node_guid,
					      .renewed_ms = handshake->now_ms,
					      .passed_on_ms = handshake->now_ms};
	*part = (struct handshake_part){0};
	return list;
}

/* Whether there is no room for one more prefix, or none for one of this router. */
static bool is_full(const struct hd_handshake_session *session)
{
	const struct hd_handshake *handshake = session->handshake;
	uint32_t own = 0;

	for (uint32_t i = 0; i < handshake->foreign_count; i++)
		own += handshake->foreign[i].router_guid == session->session.node_guid;
	return handshake->foreign_count == HD_HANDSHAKE_FOREIGN_MAX ||
	       own >= HD_HANDSHAKE_FOREIGN_OF_ROUTER;
}

/* The known list was repeated; it is when its last part comes. Returns it if it is due to be passed on, or NULL. */
static const struct hd_handshake_foreign *renew(struct hd_handshake_session *session,
						struct hd_handshake_foreign *known,
						const struct hd_router_message *message)
{
	const uint64_t now = session->handshake->now_ms;

	if (message->epoch != known->epoch || message->hops != known->hops ||
	    message->total != known->host_count ||
	    message->first + message->count != message->total)
		return NULL;
	known->router_guid = session->session.node_guid;
	known->renewed_ms = now;
	if (now - known->passed_on_ms < PASS_ON_MS)
		return NULL;
	known->passed_on_ms = now;
	return known;
}

/*
 * Takes a part of a list. *list is what to pass on to other routers: a list that is complete now, with *changed, or a
 * known one that was repeated; NULL: nothing. *reason says why the part is refused. Errors: -ENOMEM.
 */
static int handshake_foreign_take(struct hd_handshake_session *session,
				  const struct hd_router_message *message,
				  const struct hd_handshake_foreign **list, bool *changed,
				  enum hd_router_reason *reason)
{
	struct hd_handshake_foreign *known = handshake_find(session->handshake, message->prefix);
	struct handshake_part *part = &session->part;
	int rc = 0;

	*list = NULL;
	*changed = is_news(session, known, message);
	*reason = HD_ROUTER_OK;
	if (!*changed) {
		*list = renew(session, known, message);
		return 0;
	}
	if (!known && is_full(session))
		*reason = HD_ROUTER_TOO_MANY;
	else if (message->first == 0)
		rc = begin_part(session, message, reason);
	if (rc || *reason)
		return rc;
	*reason = continues(part, message) ? handshake_append(part, message) : HD_ROUTER_INCOMPLETE;
	if (*reason)
		handshake_foreign_abandon(session);
	else if (part->count == part->total)
		*list = handshake_keep(session);
	return 0;
}

int hd_handshake_new(uint64_t prefix, uint64_t first_epoch, const struct hd_handshake_hooks *hooks,
		     struct hd_handshake **out, struct hd_error *err)
{
	struct hd_handshake *handshake;

	if (!hd_router_prefix_is_global(prefix))
		return hd_error_set(err, -EINVAL,
				    "routers forward nothing to the subnet prefix 0x%016" PRIx64,
				    prefix);
	handshake = calloc(1, sizeof(*handshake));
	if (!handshake)
		return hd_error_no_memory(err);
	handshake->hooks = *hooks;
	handshake->prefix = prefix;
	handshake->epoch = first_epoch;
	*out = handshake;
	return 0;
}

static void free_lists(struct hd_handshake *handshake)
{
	free(handshake->ports);
	free(handshake->hosts);
	free(handshake->mapped);
}

void hd_handshake_free(struct hd_handshake *handshake)
{
	if (!handshake)
		return;
	while (handshake->sessions)
		hd_handshake_close(handshake->sessions);
	for (uint32_t i = 0; i < handshake->foreign_count; i++)
		free(handshake->foreign[i].hosts);
	free_lists(handshake);
	free(handshake);
}

static void *copy_of(const void *from, uint32_t count, size_t size)
{
	void *copy = malloc((size_t)count * size + 1);

	if (copy && count)
		memcpy(copy, from, (size_t)count * size);
	return copy;
}

static int copy_lists(struct hd_handshake *handshake, const struct hd_handshake_lists *lists)
{
	void *ports = copy_of(lists->ports, lists->port_count, sizeof(*lists->ports));
	void *hosts = copy_of(lists->hosts, lists->host_count, sizeof(*lists->hosts));
	void *mapped = copy_of(lists->mapped, lists->mapped_count, sizeof(*lists->mapped));

	if (!ports || !hosts || !mapped) {
		free(ports);
		free(hosts);
		free(mapped);
		return -ENOMEM;
	}
	free_lists(handshake);
	handshake->ports = ports;
	handshake->hosts = hosts;
	handshake->mapped = mapped;
	handshake->lists = *lists;
	handshake->lists.ports = ports;
	handshake->lists.hosts = hosts;
	handshake->lists.mapped = mapped;
	return 0;
}

static bool is_open(const struct hd_handshake_session *session)
{
	return session->session.greeted && !session->broken;
}

int hd_handshake_publish(struct hd_handshake *handshake, const struct hd_handshake_lists *lists,
			 struct hd_error *err)
{
	for (uint32_t i = 0; i < lists->port_count; i++) {
		const struct hd_handshake_port *port = &lists->ports[i];

		if (!hd_router_lid_is_unicast(port->lid) ||
		    (port->switch_guid && !hd_router_lid_is_unicast(port->switch_lid)))
			return hd_error_set(err, -EINVAL,
					    "router port 0x%016" PRIx64
					    ": LID %u, and LID %u of its switch",
					    port->guid, port->lid, port->switch_lid);
		if (port->guid <= (i ? port[-1].guid : 0))
			return hd_error_set(err, -EINVAL,
					    "router port 0x%016" PRIx64 " is not in order",
					    port->guid);
	}
	for (uint32_t i = 0; i < lists->host_count; i++) {
		const struct hd_handshake_host *host = &lists->hosts[i];

		if (!hd_router_lid_is_unicast(host->lid))
			return hd_error_set(err, -EINVAL, "host 0x%016" PRIx64 ": LID %u",
					    host->guid, host->lid);
		if (host->guid <= (i ? host[-1].guid : 0))
			return hd_error_set(err, -EINVAL, "host 0x%016" PRIx64 " is not in order",
					    host->guid);
	}
	for (uint32_t i = 0; i < lists->mapped_count; i++) {
		const struct hd_handshake_mapped *at = &lists->mapped[i], *before = at - 1;

		if (at->prefix == handshake->prefix || !hd_router_prefix_is_global(at->prefix) ||
		    !at->port_guid)
			return hd_error_set(err, -EINVAL,
					    "the map has the prefix 0x%016" PRIx64
					    " and the router port 0x%016" PRIx64,
					    at->prefix, at->port_guid);
		if (i && (at->prefix < before->prefix ||
			  (at->prefix == before->prefix && at->guid <= before->guid)))
			return hd_error_set(err, -EINVAL,
					    "GID 0x%016" PRIx64 ":0x%016" PRIx64
					    " of the map is not in order",
					    at->prefix, at->guid);
	}
	if (copy_lists(handshake, lists))
		return hd_error_no_memory(err);
	handshake->epoch++;
	handshake->published = true;
	for (struct hd_handshake_session *to = handshake->sessions; to; to = to->next)
		if (is_open(to))
			handshake_send_epoch(to);
	return 0;
}

int hd_handshake_open(struct hd_handshake *handshake, void *connection, uint64_t nonce,
		      struct hd_handshake_session **session, struct hd_error *err)
{
	struct hd_handshake_session *made = calloc(1, sizeof(*made));

	if (!made)
		return hd_error_no_memory(err);
	hd_router_session_begin(&made->session, HD_ROUTER_ROLE_SM, nonce, handshake->prefix, 0);
	made->handshake = handshake;
	made->connection = connection;
	made->next = handshake->sessions;
	handshake->sessions = made;
	*session = made;
	return 0;
}

void hd_handshake_close(struct hd_handshake_session *session)
{
	struct hd_handshake_session **at = &session->handshake->sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	handshake_foreign_abandon(session);
	free(session);
}

static void on_hello(struct hd_handshake_session *session)
{
	struct hd_handshake *handshake = session->handshake;

	handshake_send_plain(session, (struct hd_router_message){.type = HD_ROUTER_HELLO});
	if (handshake->published)
		handshake_send_epoch(session);
	for (uint32_t i = 0; i < handshake->foreign_count; i++)
		handshake_send_foreign(session, &handshake->foreign[i]);
}

/* A router speaks for its own ports only. Other routers get to know. */
static enum hd_router_reason on_prefixes(struct hd_handshake_session *session,
					 const struct hd_router_message *message)
{
	const struct hd_handshake_lists *lists = &session->handshake->lists;

	for (uint32_t i = 0; i < lists->port_count; i++) {
		const struct hd_handshake_port *port = &lists->ports[i];

		if (port->guid != message->port_guid || port->lid != message->lid ||
		    port->router_guid != session->session.node_guid)
			continue;
		for (struct hd_handshake_session *to = session->handshake->sessions; to;
		     to = to->next)
			if (to != session && is_open(to)) {
				/* An advertisement that came from another router. */
				struct hd_router_message copy = *message;
				struct hd_router_prefix_entry entry;
				struct hd_router_writer writer;

				handshake_begin(to, &copy, &writer);
				for (uint32_t j = 0; j < message->count; j++) {
					hd_router_prefix_at(message, j, &entry);
					hd_router_write_prefix(&writer, &entry);
				}
				handshake_end(to, &writer);
			}
		return HD_ROUTER_OK;
	}
	return HD_ROUTER_UNKNOWN_PORT;
}

static int on_foreign(struct hd_handshake_session *session, const struct hd_router_message *message,
		      enum hd_router_reason *reason)
{
	const struct hd_handshake_hooks *hooks = &session->handshake->hooks;
	const struct hd_handshake_foreign *list;
	bool changed;
	int rc = handshake_foreign_take(session, message, &list, &changed, reason);

	if (rc || !list)
		return rc;
	for (struct hd_handshake_session *to = session->handshake->sessions; to; to = to->next)
		if (to != session && is_open(to))
			handshake_send_foreign(to, list);
	if (changed && hooks->foreign)
		hooks->foreign(hooks->context, list);
	return 0;
}

static void on_refused(const struct hd_handshake_session *session,
		       const struct hd_router_message *message)
{
	hd_log(&session->handshake->hooks.log, HD_LOG_ERROR,
	       "router 0x%016" PRIx64 " refuses message %" PRIu64 " of type %u: %s",
	       session->session.node_guid, message->refused_sequence, message->refused_type,
	       hd_router_reason_text(message->reason));
}

static int act(struct hd_handshake_session *session, const struct hd_router_message *message,
	       enum hd_router_reason *reason)
{
	const struct hd_handshake_hooks *hooks = &session->handshake->hooks;

	switch (message->type) {
	case HD_ROUTER_HELLO:
		on_hello(session);
		break;
	case HD_ROUTER_ACCEPTED:
		if (hooks->accepted)
			hooks->accepted(hooks->context, session->session.node_guid, message->epoch);
		break;
	case HD_ROUTER_PREFIXES:
		*reason = on_prefixes(session, message);
		break;
	case HD_ROUTER_FOREIGN:
		return on_foreign(session, message, reason);
	case HD_ROUTER_REFUSED:
		on_refused(session, message);
		break;
	default:
		break;
	}
	return 0;
}

static int give_up(struct hd_handshake_session *session, int rc)
{
	const struct hd_handshake_hooks *hooks = &session->handshake->hooks;

	session->broken = true;
	hooks->give_up(hooks->context, session->connection);
	return rc;
}

static int handshake_refuse(struct hd_handshake_session *session, uint64_t sequence, uint16_t type,
			    enum hd_router_reason reason)
{
	hd_log(&session->handshake->hooks.log, HD_LOG_ERROR,
	       "message %" PRIu64 " of type %u from router 0x%016" PRIx64 " is refused: %s",
	       sequence, type, session->session.node_guid, hd_router_reason_text(reason));
	handshake_send_refusal(session, sequence, type, reason);
	if (hd_router_reason_is_fatal(reason) || !session->session.greeted)
		return give_up(session, -EPROTO);
	return 0;
}

static int take_message(struct hd_handshake_session *session, uint32_t length)
{
	uint16_t type = (uint16_t)(session->bytes[6] << 8 | session->bytes[7]);
	uint64_t sequence = session->session.received + 1;
	struct hd_router_message message;
	enum hd_router_reason reason =
	    hd_router_session_receive(&session->session, session->bytes, length, &message);
	int rc = 0;

	if (!reason)
		rc = act(session, &message, &reason);
	if (rc)
		return give_up(session, rc);
	return reason ? handshake_refuse(session, sequence, type, reason) : 0;
}

/* How many bytes are missing for the next step; 0: the message is complete. */
static uint32_t missing_bytes(const struct hd_handshake_session *session, uint32_t *length,
			      enum hd_router_reason *reason)
{
	*reason = HD_ROUTER_OK;
	if (session->used < HD_ROUTER_HEADER)
		return HD_ROUTER_HEADER - session->used;
	*reason = hd_router_frame(session->bytes, HD_ROUTER_MESSAGE_MAX, length);
	return *reason ? 0 : *length - session->used;
}

int hd_handshake_receive(struct hd_handshake_session *session, const uint8_t *bytes,
			 uint32_t length)
{
	int rc = 0;

	while (!rc && !session->broken) {
		enum hd_router_reason reason;
		uint32_t complete = 0, missing = missing_bytes(session, &complete, &reason);

		if (reason)
			return handshake_refuse(session, session->session.received + 1, 0, reason);
		if (missing == 0) {
			rc = take_message(session, complete);
			session->used = 0;
			continue;
		}
		if (!length)
			return 0;
		missing = missing < length ? missing : length;
		memcpy(session->bytes + session->used, bytes, missing);
		session->used += missing;
		bytes += missing;
		length -= missing;
	}
	return session->broken && !rc ? -EPROTO : rc;
}

void hd_handshake_tick(struct hd_handshake *handshake, uint64_t now_ms)
{
	if (now_ms < handshake->now_ms)
		return;
	handshake->now_ms = now_ms;
	/* Forgets the lists that were not repeated in time. */
	const struct hd_handshake_hooks *hooks = &handshake->hooks;
	for (uint32_t i = handshake->foreign_count; i-- > 0;) {
		const uint64_t prefix = handshake->foreign[i].prefix;

		if (handshake->now_ms - handshake->foreign[i].renewed_ms <= HD_HANDSHAKE_EXPIRE_MS)
			continue;
		/* Removes the list number `at`. */
		struct hd_handshake_foreign *list = &handshake->foreign[i];
		free(list->hosts);
		handshake->foreign_count--;
		memmove(list, list + 1, (handshake->foreign_count - i) * sizeof(*list));
		if (hooks->expired)
			hooks->expired(hooks->context, prefix);
	}
}

void hd_handshake_keep_alive(struct hd_handshake *handshake)
{
	for (struct hd_handshake_session *to = handshake->sessions; to; to = to->next)
		if (is_open(to))
			handshake_send_plain(to,
					     (struct hd_router_message){.type = HD_ROUTER_ALIVE});
}

uint64_t hd_handshake_router(const struct hd_handshake_session *session)
{
	return session->session.node_guid;
}

const struct hd_handshake_foreign *hd_handshake_foreign_at(const struct hd_handshake *handshake,
							   uint32_t index)
{
	return index < handshake->foreign_count ? &handshake->foreign[index] : NULL;
}
