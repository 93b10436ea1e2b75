/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "handshake_foreign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The place of a prefix among the known lists, or where it belongs. */
static uint32_t place_of(const struct hd_handshake *handshake, uint64_t prefix)
{
	uint32_t at = 0;

	while (at < handshake->foreign_count && handshake->foreign[at].prefix < prefix)
		at++;
	return at;
}

/* A list counts if it is newer than the known one. Of the same age, the shorter way counts. */
static bool is_news(const struct hd_handshake *handshake, const struct hd_router_message *message)
{
	const struct hd_handshake_foreign *known =
	    &handshake->foreign[place_of(handshake, message->prefix)];

	if (known == handshake->foreign + handshake->foreign_count ||
	    known->prefix != message->prefix)
		return true;
	if (message->epoch != known->epoch)
		return message->epoch > known->epoch;
	return message->hops < known->hops;
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

/* Puts the complete list in its place. */
static const struct hd_handshake_foreign *keep(struct hd_handshake *handshake,
					       struct handshake_part *part)
{
	uint32_t at = place_of(handshake, part->prefix);
	struct hd_handshake_foreign *list = &handshake->foreign[at];

	if (at < handshake->foreign_count && list->prefix == part->prefix) {
		free((void *)list->hosts);
	} else {
		memmove(list + 1, list, (handshake->foreign_count - at) * sizeof(*list));
		handshake->foreign_count++;
	}
	*list = (struct hd_handshake_foreign){.prefix = part->prefix,
					      .epoch = part->epoch,
					      .hops = part->hops,
					      .hosts = part->hosts,
					      .host_count = part->count};
	*part = (struct handshake_part){0};
	return list;
}

static bool is_full(const struct hd_handshake *handshake, uint64_t prefix)
{
	uint32_t at = place_of(handshake, prefix);

	return handshake->foreign_count == HD_HANDSHAKE_FOREIGN_MAX &&
	       (at == handshake->foreign_count || handshake->foreign[at].prefix != prefix);
}

int handshake_foreign_take(struct hd_handshake_session *session,
			   const struct hd_router_message *message,
			   const struct hd_handshake_foreign **list, enum hd_router_reason *reason)
{
	struct handshake_part *part = &session->part;
	int rc = 0;

	*list = NULL;
	*reason = HD_ROUTER_OK;
	if (!is_news(session->handshake, message))
		return 0;
	if (is_full(session->handshake, message->prefix))
		*reason = HD_ROUTER_TOO_MANY;
	else if (message->first == 0)
		rc = begin_part(session, message, reason);
	if (rc || *reason)
		return rc;
	*reason = continues(part, message) ? append(part, message) : HD_ROUTER_INCOMPLETE;
	if (*reason)
		handshake_foreign_abandon(session);
	else if (part->count == part->total)
		*list = keep(session->handshake, part);
	return 0;
}
