/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request is in one of these: the list of its destination (queued), a place (outstanding), the
 * list of ended requests (its callback is due), the list of spare ones. The ID of a try names its
 * place, and each try has another ID. So the answer to an earlier try is not taken for that to a
 * later one.
 *
 * The array of places has room for the window and one request more for each destination: the one
 * that is being repeated, which does not count.
 */
#include <assert.h>
#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/index.h>
#include <heddle/mad/queue.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- a request ---- */

/* Requests of a queue in lists, and the order in which destinations have their turn. */

struct smp_request {
	struct smp_request *next;
	uint64_t sequence; /* order of submission */
	uint32_t destination;
	struct hd_smp smp;
	hd_smp_done *done;
	void *cookie;
	uint32_t tries; /* times sent */
	uint32_t id; /* of the present try */
	bool counted; /* takes a place of the window */
	bool waits; /* the port did not take it: not a try */
	uint64_t due; /* when its answer is late, or when it is sent again */
	int rc; /* once it has ended */
	uint16_t status;
	bool answered; /* smp_request.answer is valid */
	uint8_t answer[HD_SMP_DATA];
};

/* A list by sequence, or by order of arrival. Zero-initialise before use. */
struct smp_request_list {
	struct smp_request *first, *last;
};

/* A destination's turn comes by its oldest request. */
struct smp_turn {
	uint64_t sequence;
	uint32_t destination;
};

/* A heap of turns; room for one turn of each destination. */
struct smp_turns {
	struct smp_turn *heap; /* [count] */
	uint32_t count;
};

static void smp_request_append(struct smp_request_list *list, struct smp_request *request)
{
	request->next = NULL;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

/* The first one, taken out; NULL: the list is empty. */
static struct smp_request *smp_request_take(struct smp_request_list *list)
{
	struct smp_request *taken = list->first;

	if (!taken)
		return NULL;
	list->first = taken->next;
	if (!list->first)
		list->last = NULL;
	return taken;
}

/* Puts a request back into a list by sequence. Cost: O(requests that are before it). */
static void smp_request_put_back(struct smp_request_list *list, struct smp_request *request)
{
	struct smp_request **at = &list->first;

	while (*at && (*at)->sequence < request->sequence)
		at = &(*at)->next;
	request->next = *at;
	*at = request;
	if (!request->next)
		list->last = request;
}

static void smp_request_turn_add(struct smp_turns *turns, struct smp_turn turn)
{
	uint32_t at = turns->count++;

	for (; at && turns->heap[(at - 1) / 2].sequence > turn.sequence; at = (at - 1) / 2)
		turns->heap[at] = turns->heap[(at - 1) / 2];
	turns->heap[at] = turn;
}

/* The oldest turn, taken out. There must be one. */
static struct smp_turn smp_request_turn_take(struct smp_turns *turns)
{
	struct smp_turn first, moved;
	uint32_t at = 0;

	assert(turns->count);
	first = turns->heap[0];
	moved = turns->heap[--turns->count];
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < turns->count &&
		    turns->heap[child + 1].sequence < turns->heap[child].sequence)
			child++;
		if (child >= turns->count || turns->heap[child].sequence >= moved.sequence)
			break;
		turns->heap[at] = turns->heap[child];
		at = child;
	}
	if (turns->count)
		turns->heap[at] = moved;
	return first;
}

/* ---- the queue ---- */

#define STALL_MS 10u /* until a port that could not take more is asked again */
#define NEVER UINT64_MAX

struct destination {
	struct hd_smp_address address;
	struct smp_request_list queued;
	struct smp_request *repeated; /* the one that is being repeated, or NULL */
	uint32_t under_way; /* requests in places */
	uint32_t errors; /* unanswered requests in a row */
	bool trusted; /* its last word was an answer */
	bool given_up; /* nothing is queued */
	bool has_turn; /* is in queue.turns */
};

struct hd_smp_queue {
	struct hd_arena arena;
	struct hd_smp_port port;
	struct hd_smp_limits limits;
	struct destination *destinations; /* [destination_count] */
	uint32_t destination_count;
	struct smp_request **places; /* [place_count], NULL: free */
	uint32_t *free_places; /* [free_count] */
	uint32_t place_count, free_count;
	uint32_t in_window; /* requests that count */
	uint32_t round; /* changes from try to try */
	struct smp_turns turns; /* destinations that may be sent something */
	struct smp_request_list ended, spare;
	uint64_t sequence;
	uint64_t next_due; /* no request is due before */
	uint32_t pending;
	hd_smp_late *late; /* NULL: none */
	void *late_context;
	bool stalled; /* the port took no more; next_due says when it is asked again */
	bool more; /* the port may have more answers */
	uint32_t sends_left; /* in this call of hd_smp_queue_work() */
	struct hd_smp_counts counts;
};

struct hd_smp_queue *hd_smp_queue_new(const struct hd_smp_port *port,
				      const struct hd_smp_limits *limits, uint32_t destinations)
{
	struct hd_smp_queue *queue = calloc(1, sizeof(*queue));

	assert(limits->window && limits->window <= UINT16_MAX && limits->each &&
	       limits->timeout_ms && limits->retries <= 10 && limits->errors);
	if (!queue)
		return NULL;
	queue->port = *port;
	queue->limits = *limits;
	queue->destination_count = destinations;
	queue->place_count = limits->window + destinations;
	queue->next_due = NEVER;
	queue->destinations =
	    hd_arena_alloc(&queue->arena, destinations, sizeof(*queue->destinations));
	queue->places = hd_arena_alloc(&queue->arena, queue->place_count, sizeof(*queue->places));
	queue->free_places =
	    hd_arena_alloc(&queue->arena, queue->place_count, sizeof(*queue->free_places));
	queue->turns.heap = hd_arena_alloc(&queue->arena, destinations, sizeof(*queue->turns.heap));
	if (hd_arena_check(&queue->arena)) {
		hd_smp_queue_free(queue);
		return NULL;
	}
	while (queue->free_count < queue->place_count) {
		queue->free_places[queue->free_count] = queue->place_count - 1 - queue->free_count;
		queue->free_count++;
	}
	return queue;
}

void hd_smp_queue_free(struct hd_smp_queue *queue)
{
	if (!queue)
		return;
	hd_arena_release(&queue->arena);
	free(queue);
}

static uint64_t now_of(const struct hd_smp_queue *queue)
{
	return queue->port.now(queue->port.context);
}

static struct destination *destination_of(const struct hd_smp_queue *queue, uint32_t destination)
{
	assert(destination < queue->destination_count);
	return &queue->destinations[destination];
}

/* Whether a destination may be sent its next request. */
static bool may_send(const struct hd_smp_queue *queue, const struct destination *to)
{
	uint32_t most = to->trusted ? queue->limits.each : 1;

	return to->queued.first && to->under_way < most;
}

/* Gives a destination its turn if it may be sent something and has none. */
static void update_turn(struct hd_smp_queue *queue, struct destination *to)
{
	if (to->has_turn || !may_send(queue, to))
		return;
	to->has_turn = true;
	smp_request_turn_add(
	    &queue->turns, (struct smp_turn){.sequence = to->queued.first->sequence,
					     .destination = (uint32_t)(to - queue->destinations)});
}

/* The request has ended; its callback comes with hd_smp_queue_work(). */
static void end_request(struct hd_smp_queue *queue, struct smp_request *request, int rc)
{
	struct hd_smp_counts *counts = &queue->counts;

	request->rc = rc;
	if (!rc)
		counts->done++;
	else if (rc == -EREMOTEIO)
		counts->refused++;
	else if (rc == -EHOSTDOWN)
		counts->given_up++;
	else if (rc == -ECANCELED)
		counts->canceled++;
	else
		counts->unanswered++;
	smp_request_append(&queue->ended, request);
}

void hd_smp_queue_aim(struct hd_smp_queue *queue, uint32_t destination,
		      const struct hd_smp_address *address)
{
	destination_of(queue, destination)->address = *address;
}

int hd_smp_queue_submit(struct hd_smp_queue *queue, uint32_t destination, const struct hd_smp *smp,
			hd_smp_done *done, void *cookie)
{
	struct destination *to = destination_of(queue, destination);
	struct smp_request *request = smp_request_take(&queue->spare);

	if (!request)
		request = hd_arena_alloc(&queue->arena, 1, sizeof(*request));
	if (!request)
		return -ENOMEM;
	*request = (struct smp_request){.sequence = queue->sequence++,
					.destination = destination,
					.smp = *smp,
					.done = done,
					.cookie = cookie};
	queue->pending++;
	if (to->given_up) {
		end_request(queue, request, -EHOSTDOWN);
		return 0;
	}
	smp_request_append(&to->queued, request);
	update_turn(queue, to);
	return 0;
}

/* Takes a request out of its place. */
static void leave_place(struct hd_smp_queue *queue, struct smp_request *request)
{
	struct destination *to = destination_of(queue, request->destination);
	uint32_t place = request->id % queue->place_count;

	queue->places[place] = NULL;
	queue->free_places[queue->free_count++] = place;
	to->under_way--;
	if (to->repeated == request)
		to->repeated = NULL;
	if (request->counted)
		queue->in_window--;
	request->counted = false;
}

/* Not one that was sent a while ago: a late answer to that try is none to this one. */
static uint32_t next_id(struct hd_smp_queue *queue, uint32_t place)
{
	uint32_t *last = queue->port.last_id;

	queue->round = last ? *last / queue->place_count + 1 : queue->round + 1;
	if (queue->round >= UINT32_MAX / queue->place_count)
		queue->round = 1;
	const uint32_t id = queue->round * queue->place_count + place;
	if (last)
		*last = id;
	return id;
}

/* A try of the request that is in that place. Returns what the port's send() returns. */
static int send_try(struct hd_smp_queue *queue, struct smp_request *request, uint32_t place)
{
	const struct destination *to = destination_of(queue, request->destination);
	uint32_t timeout_ms = queue->limits.timeout_ms << request->tries;
	int rc;

	queue->sends_left -= queue->sends_left > 0;
	request->id = next_id(queue, place);
	rc = queue->port.send(queue->port.context, &to->address, &request->smp, request->id,
			      timeout_ms);
	request->waits = rc != 0;
	request->due = now_of(queue) + (rc ? STALL_MS : timeout_ms);
	if (request->due < queue->next_due)
		queue->next_due = request->due;
	if (rc)
		return rc;
	queue->counts.sent++;
	queue->counts.repeated += request->tries != 0;
	request->tries++;
	return 0;
}

/* Sends a request for the first time, or once more after it had gone back to its list. */
static int start(struct hd_smp_queue *queue, struct smp_request *request)
{
	uint32_t place = queue->free_places[queue->free_count - 1];
	int rc = send_try(queue, request, place);

	if (rc)
		return rc;
	queue->free_count--;
	queue->places[place] = request;
	destination_of(queue, request->destination)->under_way++;
	queue->in_window++;
	request->counted = true;
	return 0;
}

/* Ends what is queued for a destination. */
static void end_queued(struct hd_smp_queue *queue, struct destination *to, int rc)
{
	struct smp_request *request;

	while ((request = smp_request_take(&to->queued)))
		end_request(queue, request, rc);
}

/* The last try of a request has had no answer. */
static void end_unanswered(struct hd_smp_queue *queue, struct smp_request *request)
{
	struct destination *to = destination_of(queue, request->destination);

	leave_place(queue, request);
	end_request(queue, request, -ETIMEDOUT);
	if (++to->errors >= queue->limits.errors) {
		to->given_up = true;
		end_queued(queue, to, -EHOSTDOWN);
	}
	update_turn(queue, to);
}

static void repeat(struct hd_smp_queue *queue, struct smp_request *request)
{
	int rc = send_try(queue, request, request->id % queue->place_count);

	if (!rc || rc == -EAGAIN)
		return;
	leave_place(queue, request);
	end_request(queue, request, rc);
	update_turn(queue, destination_of(queue, request->destination));
}

/*
 * A try had no answer, or the node was busy. The request is repeated, and no longer counts in the
 * window. But if another request to the node is being repeated already, this one goes back to its
 * list and keeps its count of tries. Returns whether this request is the one to be repeated.
 */
static bool becomes_repeated(struct hd_smp_queue *queue, struct smp_request *request)
{
	struct destination *to = destination_of(queue, request->destination);

	to->trusted = false;
	if (to->given_up || (to->repeated && to->repeated != request)) {
		leave_place(queue, request);
		if (to->given_up)
			end_request(queue, request, -EHOSTDOWN);
		else
			smp_request_put_back(&to->queued, request);
		return false;
	}
	to->repeated = request;
	if (request->counted)
		queue->in_window--;
	request->counted = false;
	return true;
}

static bool is_worth_repeating(const struct hd_smp_queue *queue, const struct smp_request *request)
{
	return !queue->late ||
	       queue->late(queue->late_context, request->destination, request->tries);
}

static void handle_due(struct hd_smp_queue *queue, struct smp_request *request)
{
	if (!request->waits && request->tries > queue->limits.retries)
		end_unanswered(queue, request);
	else if (request->waits)
		repeat(queue, request);
	else if (!becomes_repeated(queue, request))
		return;
	else if (is_worth_repeating(queue, request))
		repeat(queue, request);
	else
		end_unanswered(queue, request);
}

/* Repeats what is late, or ends it. */
static void expire(struct hd_smp_queue *queue)
{
	uint64_t now = now_of(queue);

	if (now < queue->next_due)
		return;
	queue->next_due = NEVER;
	for (uint32_t place = 0; place < queue->place_count; place++) {
		struct smp_request *request = queue->places[place];

		if (request && request->due <= now && queue->sends_left)
			handle_due(queue, request);
		else if (request && request->due < queue->next_due)
			queue->next_due = request->due;
	}
}

/* The node has answered, be it that it is busy. */
static void handle_answer(struct hd_smp_queue *queue, struct smp_request *request,
			  const struct hd_smp_event *event)
{
	struct destination *to = destination_of(queue, request->destination);

	to->errors = 0;
	request->status = event->status;
	if (event->status & HD_SMP_BUSY && request->tries <= queue->limits.retries) {
		becomes_repeated(queue, request); /* at its time-out */
		return;
	}
	to->trusted = true;
	request->answered = true;
	memcpy(request->answer, event->data, sizeof(request->answer));
	if (request->smp.gmp)
		memcpy(request->smp.gmp->data, event->data, HD_GMP_DATA);
	leave_place(queue, request);
	end_request(queue, request, event->status ? -EREMOTEIO : 0);
	update_turn(queue, to);
}

static void handle_event(struct hd_smp_queue *queue, const struct hd_smp_event *event)
{
	struct smp_request *request = queue->places[event->id % queue->place_count];

	if (!request || request->id != event->id ||
	    (!event->rc && event->attribute != request->smp.attribute)) {
		queue->counts.late += !event->rc;
		return;
	}
	if (!event->rc) {
		handle_answer(queue, request, event);
	} else if (event->rc != -ETIMEDOUT) {
		leave_place(queue, request);
		end_request(queue, request, event->rc);
		update_turn(queue, destination_of(queue, request->destination));
	}
	/* a time-out that the port reports: our own comes too, and never too early */
}

static uint32_t most(const struct hd_smp_queue *queue)
{
	return queue->limits.at_once ? queue->limits.at_once : UINT32_MAX;
}

static int receive(struct hd_smp_queue *queue)
{
	struct hd_smp_event event;
	uint32_t left = most(queue);
	int rc = 1;

	for (; rc > 0 && left; left--) {
		rc = queue->port.receive(queue->port.context, &event);
		if (rc > 0)
			handle_event(queue, &event);
	}
	queue->more = rc > 0;
	return rc < 0 ? rc : 0;
}

/* Sends the next request of the destination that has the turn. False: the port takes no more. */
static bool take_turn(struct hd_smp_queue *queue)
{
	struct smp_turn turn = smp_request_turn_take(&queue->turns);
	struct destination *to = destination_of(queue, turn.destination);
	struct smp_request *request;
	int rc = 0;

	to->has_turn = false;
	/* what was first when it got its turn may have ended since */
	if (may_send(queue, to) && to->queued.first->sequence == turn.sequence) {
		request = smp_request_take(&to->queued);
		rc = start(queue, request);
		if (rc == -EAGAIN)
			smp_request_put_back(&to->queued, request);
		else if (rc)
			end_request(queue, request, rc);
	}
	update_turn(queue, to);
	return rc != -EAGAIN;
}

/* Calls back for all requests that have ended; whether there was one. */
static bool call_back(struct hd_smp_queue *queue)
{
	bool any = queue->ended.first != NULL;
	struct smp_request *request;

	while ((request = smp_request_take(&queue->ended))) {
		struct hd_smp_result result = {.destination = request->destination,
					       .smp = &request->smp,
					       .rc = request->rc,
					       .status = request->status,
					       .tries = request->tries,
					       .data = request->answered ? request->answer : NULL};

		queue->pending--;
		request->done(request->cookie, &result);
		smp_request_append(&queue->spare, request);
	}
	return any;
}

int hd_smp_queue_work(struct hd_smp_queue *queue)
{
	int rc = receive(queue);

	queue->stalled = false;
	queue->sends_left = most(queue);
	do {
		expire(queue);
		while (!rc && !queue->stalled && queue->turns.count && queue->sends_left &&
		       queue->in_window < queue->limits.window)
			queue->stalled = !take_turn(queue);
	} while (call_back(queue));
	return rc;
}

void hd_smp_queue_on_late(struct hd_smp_queue *queue, hd_smp_late *late, void *context)
{
	queue->late = late;
	queue->late_context = context;
}

uint32_t hd_smp_queue_pending(const struct hd_smp_queue *queue)
{
	return queue->pending;
}

int hd_smp_queue_timeout(const struct hd_smp_queue *queue)
{
	bool may = queue->turns.count && queue->in_window < queue->limits.window && !queue->stalled;
	uint64_t now = now_of(queue);

	if (!queue->pending)
		return -1;
	if (queue->ended.first || queue->next_due <= now || may || queue->more)
		return 0;
	if (queue->next_due == NEVER)
		return -1;
	return queue->next_due - now > INT_MAX ? INT_MAX : (int)(queue->next_due - now);
}

void hd_smp_queue_wait(struct hd_smp_queue *queue)
{
	queue->port.wait(queue->port.context, hd_smp_queue_timeout(queue));
}

void hd_smp_queue_wait_for(struct hd_smp_queue *queue, int milliseconds)
{
	const int timeout = hd_smp_queue_timeout(queue);

	queue->port.wait(queue->port.context,
			 timeout < 0 || timeout > milliseconds ? milliseconds : timeout);
}

int hd_smp_queue_run(struct hd_smp_queue *queue)
{
	int rc = hd_smp_queue_work(queue);

	while (!rc && queue->pending) {
		hd_smp_queue_wait(queue);
		rc = hd_smp_queue_work(queue);
	}
	return rc;
}

static void cancel_destination(struct hd_smp_queue *queue, struct destination *to)
{
	for (uint32_t place = 0; to->under_way && place < queue->place_count; place++) {
		struct smp_request *request = queue->places[place];

		if (!request || destination_of(queue, request->destination) != to)
			continue;
		leave_place(queue, request);
		smp_request_put_back(&to->queued, request);
	}
	end_queued(queue, to, -ECANCELED);
}

void hd_smp_queue_cancel(struct hd_smp_queue *queue, uint32_t destination)
{
	for (uint32_t i = 0; i < queue->destination_count; i++)
		if (destination == HD_NONE || destination == i)
			cancel_destination(queue, &queue->destinations[i]);
}

bool hd_smp_queue_is_given_up(const struct hd_smp_queue *queue, uint32_t destination)
{
	return destination_of(queue, destination)->given_up;
}

void hd_smp_queue_forgive(struct hd_smp_queue *queue, uint32_t destination)
{
	struct destination *to = destination_of(queue, destination);

	to->given_up = to->trusted = false;
	to->errors = 0;
}

const struct hd_smp_counts *hd_smp_queue_counts(const struct hd_smp_queue *queue)
{
	return &queue->counts;
}
