/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request is answered in one of three ways. `list`, and what is refused by its names, at once. A change while another
 * one is undecided is queued, and read again when a sweep has decided. Any other change becomes what is wanted
 * (drained.h), with a number, and OpenSM is asked for a sweep. Its client waits, paused, through these states:
 *
 *	undecided	no sweep has routed with that number yet
 *	decided		refused: the answer is the reason; accepted: it is stored in the file first of all
 *	overtaken	somebody else has asked for the contrary since: that is the answer
 *	incomplete	a switch has not got its table, or adaptive routing is being programmed; OpenSM is asked again
 *	complete	the answer; `safe to pull` only if all of this holds at that moment
 *
 * Each change in the subnet wakes the thread, which looks at all clients (look()). A client that hangs up changes nothing.
 */
#include "drain_server.h"
#include "adaptive_state.h"
#include "drain_complete.h"
#include "drain_file.h"
#include "drain_request.h"
#include "master.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include "socket_server.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PATIENCE_MS 5000 /* for a request, and to read the answer */
#define LOOK_MS 100 /* between two looks at adaptive routing */
#define UNSTORED "NOT STORED, a restarted OpenSM will not know this: %s\n"
#define TELL_MS 1000 /* a client that waits so long hears what for */
#define AGAIN_MS 10000 /* after so long without a complete sweep OpenSM is asked for another one */

struct drain_server {
	struct part_context *context;
	struct socket_server *sockets;
	int wake;
	char *state; /* path; NULL: there is no file */
	bool open; /* the group may ask, too: its members are not known here */
	struct waiting *first; /* clients that wait for a sweep */
	uint64_t stored; /* the number of what the file has */
	double again; /* monotonic_ms() */
};

/* A client that waits. */
struct waiting {
	struct waiting *next;
	struct socket_client *client; /* NULL: it has hung up */
	bool queued; /* until a sweep has decided about others; its request is read again then */
	uint64_t number; /* of what it wants */
	bool undo, afresh;
	struct drained_set asked;
	double tell; /* monotonic_ms(): from when on it hears what it waits for; 0: never */
	char told[HD_ERROR_TEXT]; /* the last such text */
};

static void answer(struct socket_client *client, int status, const char *text)
{
	char head[4];

	snprintf(head, sizeof(head), "%d\n", status);
	socket_client_send(client, head, 2);
	socket_client_send(client, text, strlen(text));
	socket_client_finish(client);
}

static void refuse(struct socket_client *client, int rc, const struct hd_error *err)
{
	char text[HD_ERROR_TEXT + 1];

	snprintf(text, sizeof(text), "%s\n", err->text);
	answer(client, rc == -ENOENT || rc == -EINVAL || rc == -EEXIST || rc == -ENOMEM ? 2 : 1,
	       text);
}

static void print_things(FILE *stream, const struct drained_set *set, const char *before)
{
	char label[DRAINED_LABEL];

	for (uint32_t i = 0; i < set->count; i++) {
		drained_label(&set->things[i], label);
		fprintf(stream, "%s%s\n", before, label);
	}
}

/* A text for a client, and the end of its connection. */
static void finish(struct socket_client *client, int status, FILE *stream, char **text)
{
	const bool made = stream && !fclose(stream);

	if (made)
		answer(client, status, *text);
	else
		answer(client, 2, "out of memory\n");
	free(*text);
}

static void list(struct drain_server *server, struct socket_client *client)
{
	struct drained_state state;
	struct hd_error err;
	int rc = drained_read(server->context->drained, &state);
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!*state.incomplete && drain_complete_adaptive(server->context, &err) == -EAGAIN)
		memcpy(state.incomplete, err.text, sizeof(state.incomplete));
	if (stream && !rc) {
		print_things(stream, &state.accepted, "");
		if (*state.suspended)
			fprintf(stream, "NOT SAFE TO PULL, routing uses it: %s\n", state.suspended);
		else if (state.accepted.count && *state.incomplete)
			fprintf(stream, "NOT SAFE TO PULL YET: %s\n", state.incomplete);
		if (*state.unstored)
			fprintf(stream, UNSTORED, state.unstored);
	}
	finish(client, rc ? 2 : 0, stream, &text);
	drained_state_release(&state);
}

static void ask_for_sweep(struct drain_server *server)
{
	struct osm_opensm *osm = server->context->osm;

	osm->subn.force_heavy_sweep = TRUE;
	osm_sm_signal(&osm->sm, OSM_SIGNAL_SWEEP);
	server->again = monotonic_ms() + AGAIN_MS;
}

/* What is wanted then, and what was asked for. */
static int decide(struct drain_server *server, const struct drain_request *request,
		  struct drained_set *wanted, struct drained_set *asked, struct hd_error *err)
{
	struct drained *drained = server->context->drained;
	struct routing *routing = part_hold_published(server->context);

	pthread_mutex_lock(&drained->lock);
	int rc = drained_set_copy(&drained->wanted, wanted) ? hd_error_no_memory(err) : 0;
	pthread_mutex_unlock(&drained->lock);
	if (!rc && !master_is_ours(server->context->osm))
		rc = hd_error_set(err, -EPERM, "this OpenSM is not the master of the subnet");
	if (!rc && !drain_request_adds(request))
		rc = drain_request_take(request, routing ? routing_found(routing) : NULL, wanted,
					asked, err);
	else if (!rc && !routing)
		rc = hd_error_set(err, -EPERM, "the tables in force are not Heddle's");
	else if (!rc)
		rc = drain_request_add(request, routing_found(routing), wanted, asked, err);
	routing_release(routing);
	return rc;
}

static void log_request(const struct drain_server *server, const struct socket_client *client,
			bool undo, const struct drained_set *asked)
{
	uint32_t user;
	char label[DRAINED_LABEL];

	memcpy(&user, client->peer.bytes, sizeof(user));
	for (uint32_t i = 0; i < asked->count; i++) {
		drained_label(&asked->things[i], label);
		log_info(&server->context->log, "drain: user %" PRIu32 " asks to %s %s", user,
			 undo ? "use again" : "drain", label);
	}
}

/* The client waits; it is answered by look(). NULL: no memory, and it has its answer. */
static struct waiting *wait_for(struct drain_server *server, struct socket_client *client,
				const struct drain_request *request)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	if (!waiting) {
		answer(client, 2, "out of memory\n");
		return NULL;
	}
	waiting->next = server->first;
	waiting->client = client;
	waiting->tell = request->progress ? monotonic_ms() + TELL_MS : 0;
	server->first = waiting;
	client->data = waiting;
	client->paused = true;
	return waiting;
}

/* One change at a time: what a sweep refuses is refused for its own sake. */
static bool is_undecided(struct drained *drained)
{
	pthread_mutex_lock(&drained->lock);
	const bool undecided =
	    drained->number > drained->routed && drained->number > drained->refused;
	pthread_mutex_unlock(&drained->lock);
	return undecided;
}

static void look(struct drain_server *server);

/* Says what is wanted, and has a sweep decide, unless one has. */
static void want(struct drain_server *server, struct socket_client *client,
		 const struct drain_request *request, struct drained_set *wanted,
		 struct drained_set *asked)
{
	const bool undo = !drain_request_adds(request);
	struct drained *drained = server->context->drained;

	pthread_mutex_lock(&drained->lock);
	const bool same = drained_set_equal(wanted, &drained->wanted) &&
			  (!drained->number || drained->refused != drained->number);
	const uint64_t now = drained->number;
	pthread_mutex_unlock(&drained->lock);
	log_request(server, client, undo, asked);
	const uint64_t number =
	    same ? now : drained_want(drained, wanted, request->word == DRAIN_APPLY_ANY);
	struct waiting *waiting = wait_for(server, client, request);
	if (waiting) {
		waiting->number = number;
		waiting->undo = undo;
		waiting->asked = *asked;
		*asked = (struct drained_set){0};
	}
	if (!same)
		ask_for_sweep(server);
	look(server);
}

/* The same for a request to route afresh. Answers itself if it is refused. */
static void reroute(struct drain_server *server, struct socket_client *client,
		    const struct drain_request *request)
{
	struct routing *routing = part_hold_published(server->context);
	struct hd_error err;
	uint32_t user;
	int rc = 0;

	if (!master_is_ours(server->context->osm))
		rc = hd_error_set(&err, -EPERM, "this OpenSM is not the master of the subnet");
	else if (!routing)
		rc = hd_error_set(&err, -EPERM, "the tables in force are not Heddle's");
	routing_release(routing);
	if (rc) {
		refuse(client, rc, &err);
		return;
	}
	memcpy(&user, client->peer.bytes, sizeof(user));
	log_info(&server->context->log, "drain: user %" PRIu32 " asks to route afresh", user);
	struct waiting *waiting = wait_for(server, client, request);
	const uint64_t number =
	    drained_reroute(server->context->drained, request->word == DRAIN_REROUTE_ANY);
	if (waiting) {
		waiting->number = number;
		waiting->afresh = true;
	}
	ask_for_sweep(server);
	look(server);
}

static void change(struct drain_server *server, struct socket_client *client,
		   const struct drain_request *request)
{
	struct drained_set wanted = {0}, asked = {0};
	struct hd_error err;
	int rc = decide(server, request, &wanted, &asked, &err);

	if (rc)
		refuse(client, rc, &err);
	else if (!asked.count)
		answer(client, 0, "nothing is drained\n");
	else
		want(server, client, request, &wanted, &asked);
	drained_set_release(&wanted);
	drained_set_release(&asked);
}

/* Stores what is accepted, so that a restarted OpenSM knows it: before the answer, and also if who asked for it has hung
 * up. What could not be stored is tried again. */
static void keep_stored(struct drain_server *server, struct drained_state *state)
{
	struct hd_error err = {""};

	if (state->routed == server->stored && !*state->unstored)
		return;
	server->stored = state->routed;
	if (server->state && drain_file_write(server->state, &state->accepted, &err) &&
	    !*state->unstored)
		log_error(&server->context->log, LOG_ERROR_DRAIN,
			  "%s; a restarted OpenSM will not know what is drained now", err.text);
	snprintf(state->unstored, sizeof(state->unstored), "%s", err.text);
	drained_note_stored(server->context->drained, state->unstored);
}

/* Whether the tables in force leave out what is to be used again: they are not of a routing that was asked since. */
static bool is_out_still(const struct waiting *waiting, const struct drained_state *state)
{
	for (uint32_t i = 0; i < waiting->asked.count; i++)
		if (drained_set_find(&state->out, &waiting->asked.things[i]) != HD_NONE)
			return true;
	return false;
}

static void say_done(const struct drain_server *server, const struct waiting *waiting,
		     const struct drained_state *state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	const bool suspended = *state->suspended != '\0';

	if (stream && waiting->undo)
		print_things(stream, &waiting->asked,
			     is_out_still(waiting, state)
				 ? "not drained any more, used when an engine of Heddle routes: "
				 : "in use again: ");
	if (stream && waiting->afresh && state->entries)
		fprintf(stream, "routed afresh: %" PRIu64 " entries were written in steps\n",
			state->entries);
	else if (stream && waiting->afresh)
		fputs("routed afresh\n", stream);
	if (stream && !waiting->undo && !suspended)
		print_things(stream, &waiting->asked,
			     *state->unstored ? "safe to pull until OpenSM restarts: "
					      : "safe to pull: ");
	if (stream && suspended && state->accepted.count) {
		print_things(stream, &state->accepted, "NOT SAFE TO PULL, routing uses it: ");
		fprintf(stream, "the reason: %s\n", state->suspended);
	}
	if (stream && state->unproved)
		fprintf(stream,
			"%" PRIu64
			" entries were written without a proved order; the log says why\n",
			state->unproved);
	if (stream && !waiting->undo &&
	    adaptive_state_now(server->context->adaptive) == ADAPTIVE_FOREIGN)
		fputs("adaptive routing is another manager's: only forwarding tables and multicast "
		      "groups were looked at\n",
		      stream);
	if (stream && *state->unstored)
		fprintf(stream, UNSTORED, state->unstored);
	finish(waiting->client, *state->unstored || (suspended && !waiting->undo), stream, &text);
}

/* Why what was asked for is not so: somebody else has asked for the contrary since. */
static bool is_overtaken(const struct waiting *waiting, const struct drained_state *state,
			 struct hd_error *err)
{
	char label[DRAINED_LABEL];

	for (uint32_t i = 0; i < waiting->asked.count; i++) {
		const bool drained =
		    drained_set_find(&state->accepted, &waiting->asked.things[i]) != HD_NONE;
		if (drained != waiting->undo)
			continue;
		drained_label(&waiting->asked.things[i], label);
		hd_error_set(err, -EPERM,
			     waiting->undo
				 ? "somebody else has drained it again meanwhile: %s"
				 : "NOT SAFE TO PULL, somebody else has undone it meanwhile: %s",
			     label);
		return true;
	}
	return false;
}

/* Whether the client has its answer; else `err` says what it waits for. */
static bool answer_waiting(struct drain_server *server, struct waiting *waiting,
			   const struct drained_state *state, struct hd_error *err)
{
	if (!waiting->client)
		return true;
	if (!master_is_ours(server->context->osm)) {
		hd_error_set(err, 0, "this OpenSM is not the master of the subnet any more");
		refuse(waiting->client, -EPERM, err);
		return true;
	}
	if (waiting->queued) {
		const bool waits = is_undecided(server->context->drained);
		waiting->client->paused = waits;
		hd_error_set(err, 0, "another request is decided first, by OpenSM's next sweep");
		return !waits;
	}
	if (state->refused >= waiting->number && state->refused) {
		hd_error_set(err, 0, "%s", state->refusal);
		refuse(waiting->client, -EPERM, err);
		return true;
	}
	if (state->routed < waiting->number) {
		hd_error_set(err, 0, "OpenSM's next sweep has not routed yet");
		return false;
	}
	if (is_overtaken(waiting, state, err)) {
		refuse(waiting->client, -EPERM, err);
		return true;
	}
	const bool unused = waiting->undo && is_out_still(waiting, state);
	if (!unused && state->complete < waiting->number) {
		hd_error_set(err, 0, "%s",
			     *state->incomplete ? state->incomplete : "the sweep is not complete");
		return false;
	}
	if (!unused && drain_complete_adaptive(server->context, err))
		return false;
	say_done(server, waiting, state);
	return true;
}

static void forget(struct waiting *waiting)
{
	if (waiting->client)
		waiting->client->data = NULL;
	drained_set_release(&waiting->asked);
	free(waiting);
}

/* A line for each new text, so that nobody waits without a word. */
static void tell(struct waiting *waiting, double now, const struct hd_error *err)
{
	char line[HD_ERROR_TEXT + 8];

	if (!waiting->tell || now < waiting->tell || !strcmp(waiting->told, err->text))
		return;
	snprintf(waiting->told, sizeof(waiting->told), "%s", err->text);
	snprintf(line, sizeof(line), "wait: %s\n", err->text);
	socket_client_send(waiting->client, line, strlen(line));
}

static void look(struct drain_server *server)
{
	struct drained_state state;
	struct hd_error err = {""};
	const double now = monotonic_ms();
	const bool known = !drained_read(server->context->drained, &state);

	if (known)
		keep_stored(server, &state);
	for (struct waiting **at = &server->first; known && *at;) {
		struct waiting *waiting = *at;
		if (!answer_waiting(server, waiting, &state, &err)) {
			tell(waiting, now, &err);
			at = &waiting->next;
			continue;
		}
		*at = waiting->next;
		forget(waiting);
	}
	drained_state_release(&state);
	if (!server->first)
		return;
	if (now > server->again)
		ask_for_sweep(server);
	socket_server_call_at(server->sockets, now + LOOK_MS);
}

/* The system lets in who may write to the socket: its owner and its group. Without a group of [drain] that is the group
 * of OpenSM's process, whose members are not meant. */
static bool may_ask(const struct drain_server *server, const struct socket_client *client)
{
	uint32_t user;

	memcpy(&user, client->peer.bytes, sizeof(user));
	return server->open || !user || user == geteuid();
}

static size_t received(void *context, struct socket_client *client, const uint8_t *bytes,
		       size_t length)
{
	struct drain_server *server = context;
	struct drain_request *request = malloc(sizeof(*request));
	struct hd_error err;

	if (!request) {
		answer(client, 2, "out of memory\n");
		return length;
	}
	long used = drain_request_parse(bytes, length, request, &err);
	client->known = used; /* it may wait for a sweep */
	if (used < 0)
		refuse(client, (int)used, &err);
	else if (used && !may_ask(server, client))
		answer(client, 2, "only root and the group of [drain] in heddle.conf may ask\n");
	else if (used && request->word == DRAIN_LIST)
		list(server, client);
	else if (used && is_undecided(server->context->drained)) {
		struct waiting *waiting = wait_for(server, client, request);
		if (waiting)
			waiting->queued = true;
		used = 0;
	} else if (used && (request->word == DRAIN_REROUTE || request->word == DRAIN_REROUTE_ANY))
		reroute(server, client, request);
	else if (used)
		change(server, client, request);
	free(request);
	return used < 0 ? length : (size_t)used;
}

static void closed(void *context, struct socket_client *client, const char *reason)
{
	struct waiting *waiting = client->data;

	(void)context;
	(void)reason;
	if (waiting)
		waiting->client = NULL; /* what it wants goes on */
}

static void woken(void *context)
{
	look(context);
}

static void release(struct drain_server *server)
{
	while (server->first) {
		struct waiting *next = server->first->next;
		forget(server->first);
		server->first = next;
	}
	if (server->wake >= 0)
		close(server->wake);
	free(server->state);
	free(server);
}

static void listen_for_changes(struct drained *drained, int wake)
{
	pthread_mutex_lock(&drained->lock);
	drained->wake = wake;
	pthread_mutex_unlock(&drained->lock);
}

static int start_sockets(struct drain_server *server, const char *path, const char *group,
			 struct hd_error *err)
{
	const struct socket_server_settings settings = {.address = path,
							.group = group,
							.wake = server->wake,
							.makes_folder = true,
							.clients_most = SOCKET_SERVER_CLIENTS,
							.patience_ms = PATIENCE_MS,
							.message_most = DRAIN_REQUEST_MOST,
							.unsent_most = SIZE_MAX,
							.context = server,
							.woken = woken,
							.received = received,
							.closed = closed};

	return socket_server_start(&settings, &server->sockets, err);
}

int drain_server_start(struct part_context *context, const char *path, const char *group,
		       const char *state, struct drain_server **out, int *deaf,
		       struct hd_error *err)
{
	struct drain_server *server = calloc(1, sizeof(*server));

	if (!server)
		return *deaf = hd_error_no_memory(err);
	server->context = context;
	server->open = *group;
	server->state = state ? strdup(state) : NULL;
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int rc =
	    server->wake < 0 ? hd_error_set(err, -errno, "no eventfd: %s", strerror(errno)) : 0;
	if (!rc && state && !server->state)
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = start_sockets(server, path, group, err);
	if (rc) {
		release(server);
		return *deaf = rc;
	}
	*deaf = socket_server_deaf(server->sockets);
	listen_for_changes(context->drained, server->wake);
	*out = server;
	return 0;
}

void drain_server_end(struct drain_server *server)
{
	if (!server)
		return;
	listen_for_changes(server->context->drained, -1);
	socket_server_end(server->sockets);
	release(server);
}
