/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of other subnets, which routers hand over in parts, and repeat. */
#include "handshake_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
static struct hd_handshake_foreign *find(struct hd_handshake *handshake, uint64_t prefix)
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

void handshake_foreign_abandon(struct hd_handshake_session *session)
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

static enum hd_router_reason append(struct handshake_part *part,
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

/* Makes room for the list of a prefix, which is not known. */
static struct hd_handshake_foreign *insert(struct hd_handshake *handshake, uint64_t prefix)
{
	uint32_t at = place_of(handshake, prefix);
	struct hd_handshake_foreign *list = &handshake->foreign[at];

	memmove(list + 1, list, (handshake->foreign_count - at) * sizeof(*list));
	handshake->foreign_count++;
	*list = (struct hd_handshake_foreign){.prefix = prefix};
	return list;
}

static void say_clock(const struct hd_handshake_session *session,
		      const struct hd_handshake_foreign *known)
{
	hd_log(&session->handshake->hooks.log, HD_LOG_WARNING,
	       "router 0x%016" PRIx64 ": the epochs of subnet 0x%016" PRIx64
	       " have gone back from %" PRIu64 " to %" PRIu64
	       ", as after a clock that was set back; the new list counts",
	       session->session.node_guid, known->prefix, known->epoch, session->part.epoch);
}

/* Puts the complete list in its place. */
static const struct hd_handshake_foreign *keep(struct hd_handshake_session *session)
{
	struct hd_handshake *handshake = session->handshake;
	struct handshake_part *part = &session->part;
	struct hd_handshake_foreign *list = find(handshake, part->prefix);

	if (list && part->epoch < list->epoch)
		say_clock(session, list);
	if (!list)
		list = insert(handshake, part->prefix);
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

int handshake_foreign_take(struct hd_handshake_session *session,
			   const struct hd_router_message *message,
			   const struct hd_handshake_foreign **list, bool *changed,
			   enum hd_router_reason *reason)
{
	struct hd_handshake_foreign *known = find(session->handshake, message->prefix);
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
	*reason = continues(part, message) ? append(part, message) : HD_ROUTER_INCOMPLETE;
	if (*reason)
		handshake_foreign_abandon(session);
	else if (part->count == part->total)
		*list = keep(session);
	return 0;
}

/* Removes the list number `at`. */
static void forget(struct hd_handshake *handshake, uint32_t at)
{
	struct hd_handshake_foreign *list = &handshake->foreign[at];

	free(list->hosts);
	handshake->foreign_count--;
	memmove(list, list + 1, (handshake->foreign_count - at) * sizeof(*list));
}

void handshake_foreign_expire(struct hd_handshake *handshake)
{
	const struct hd_handshake_hooks *hooks = &handshake->hooks;

	for (uint32_t i = handshake->foreign_count; i-- > 0;) {
		const uint64_t prefix = handshake->foreign[i].prefix;

		if (handshake->now_ms - handshake->foreign[i].renewed_ms <= HD_HANDSHAKE_EXPIRE_MS)
			continue;
		forget(handshake, i);
		if (hooks->expired)
			hooks->expired(hooks->context, prefix);
	}
}
