/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_show.h"

#include "keyd_answer.h"
#include "keyd_links.h"
#include "keyd_metrics.h"

#include <stdlib.h>
#include <string.h>

#define ANSWERS_MOST 32u /* of a kind in a round of the event loop */
#define LARGE 65536u /* bytes of an answer that counts as a long one */
#define ROW_BYTES 128u /* of a job in the list, about */
#define SLOT_BYTES 96u
#define STEP_BYTES 128u
#define PATHS_GROW 2u /* when they are written as text, at most, about */

TAILQ_HEAD(calls, keyd_call);

struct keyd_show {
	struct keyd *keyd;
	struct event *turn;
	struct calls jobs, job, metrics;
	struct keyd_text *list; /* of jobs */
	uint64_t list_changes; /* keyd->changes when the list was made */
	struct links {
		struct keyd_show *show;
		struct calls calls, waiting; /* waiting: for the text that is being made */
		struct keyd_links_task *making;
		struct keyd_links *made; /* the newest text; NULL: none */
		uint64_t changes;
	} links[2]; /* [1]: all */
};

static bool has_work(const struct keyd_show *show)
{
	bool works =
	    !TAILQ_EMPTY(&show->jobs) || !TAILQ_EMPTY(&show->job) || !TAILQ_EMPTY(&show->metrics);

	for (unsigned i = 0; i < 2; i++)
		works |= !show->links[i].making && !TAILQ_EMPTY(&show->links[i].calls);
	return works;
}

static void turn(struct keyd_show *show)
{
	if (has_work(show))
		event_active(show->turn, EV_TIMEOUT, 0);
}

/* Answers at the end of the round, or with 503 at once. size: of the answer, about. */
static void wait_for(struct keyd_call *call, struct calls *calls, size_t size)
{
	struct keyd_show *show = call->keyd->show;

	if (size > LARGE && !keyd_http_takes_large(call->keyd->http, call->request)) {
		keyd_call_fail(call, 503,
			       "too many long answers are under way: see max_large_answers in "
			       "[keyd]");
		return;
	}
	TAILQ_INSERT_TAIL(calls, call, link);
	turn(show);
}

void keyd_show_jobs(struct keyd_call *call)
{
	wait_for(call, &call->keyd->show->jobs, call->keyd->jobs.count * (size_t)ROW_BYTES);
}

void keyd_show_job(struct keyd_call *call)
{
	const struct keyd_job *job = keyd_job_find(&call->keyd->jobs, call->job);
	struct keyd_step *step;
	size_t size = job->answer->length + job->names->length;

	LIST_FOREACH(step, &job->steps, link)
	{
		size += STEP_BYTES + step->slot_count * (size_t)SLOT_BYTES +
			PATHS_GROW * keyd_paths_bytes(keyd_step_spread(step)->paths);
	}
	wait_for(call, &call->keyd->show->job, size);
}

void keyd_show_links(struct keyd_call *call)
{
	struct links *links = &call->keyd->show->links[call->all];

	wait_for(call, &links->calls, keyd_links_size(call->keyd, links->made));
}

void keyd_show_metrics(struct keyd_call *call)
{
	wait_for(call, &call->keyd->show->metrics, 0);
}

static void answer_parts(struct calls *calls, struct keyd_call *call, const struct keyd_part *parts,
			 unsigned count)
{
	TAILQ_REMOVE(calls, call, link);
	if (count)
		keyd_call_answer_parts(call, parts, count);
	else
		keyd_call_fail(call, 503, "heddle-keyd has no memory for this answer");
}

/* text NULL: there is no memory. */
static void answer_first(struct calls *calls, struct keyd_text *text)
{
	struct keyd_part part = {.text = text};

	for (unsigned i = 0; i < ANSWERS_MOST && !TAILQ_EMPTY(calls); i++)
		answer_parts(calls, TAILQ_FIRST(calls), &part, text != NULL);
}

static struct keyd_text *list_jobs(const struct keyd *keyd)
{
	struct keyd_writer writer = {.room = 0};
	const struct keyd_job *job;

	keyd_write(&writer, "{\"jobs\":[");
	TAILQ_FOREACH(job, &keyd->jobs.list, link)
	{
		keyd_answer_row(job, &writer);
	}
	keyd_write(&writer, "]}");
	return keyd_writer_end(&writer);
}

static void turn_jobs(struct keyd_show *show)
{
	if (TAILQ_EMPTY(&show->jobs))
		return;
	if (!show->list || show->list_changes != show->keyd->changes) {
		keyd_text_release(show->list);
		show->list = list_jobs(show->keyd);
		show->list_changes = show->keyd->changes;
	}
	answer_first(&show->jobs, show->list);
}

/* Answers the first calls that ask for this job, or for none that exists any more. */
static void answer_job(struct keyd_show *show, const char *id, const struct keyd_part *parts,
		       unsigned count)
{
	struct keyd_call *call = TAILQ_FIRST(&show->job), *next;
	unsigned answered = 0;

	for (; call && answered < ANSWERS_MOST; call = next) {
		next = TAILQ_NEXT(call, link);
		if (strcmp(call->job, id))
			continue;
		answer_parts(&show->job, call, parts, count);
		answered++;
	}
}

static void turn_job(struct keyd_show *show)
{
	struct keyd_writer head = {.room = 0}, tail = {.room = 0};
	struct keyd_call *call = TAILQ_FIRST(&show->job);
	const struct keyd_job *job;
	struct keyd_text *first, *last;
	size_t skip;

	if (!call)
		return;
	job = keyd_job_find(&show->keyd->jobs, call->job);
	if (!job || job->state == KEYD_PLACING) {
		TAILQ_REMOVE(&show->job, call, link);
		keyd_call_fail(call, 404, "there is no job %s", call->job);
		return;
	}
	keyd_answer_job(job, &head, &skip, &tail);
	first = keyd_writer_end(&head);
	last = keyd_writer_end(&tail);
	answer_job(show, job->id,
		   (const struct keyd_part[]){{.text = first},
					      {.text = job->answer, .skip = skip, .leave = 1},
					      {.text = job->names},
					      {.text = last}},
		   first && last ? 4 : 0);
	keyd_text_release(first);
	keyd_text_release(last);
}

static void turn_metrics(struct keyd_show *show)
{
	char *text;

	if (TAILQ_EMPTY(&show->metrics))
		return;
	text = keyd_metrics_text(show->keyd);
	for (unsigned i = 0; i < ANSWERS_MOST && !TAILQ_EMPTY(&show->metrics); i++) {
		struct keyd_call *call = TAILQ_FIRST(&show->metrics);

		TAILQ_REMOVE(&show->metrics, call, link);
		if (text)
			keyd_call_answer_plain(call, "text/plain; version=0.0.4", text);
		else
			keyd_call_fail(call, 503, "heddle-keyd has no memory for this call");
	}
	free(text);
}

static void on_links(void *context, struct keyd_links *made)
{
	struct links *links = context;

	keyd_links_free(links->made);
	links->made = made;
	links->making = NULL;
	while (!TAILQ_EMPTY(&links->waiting))
		answer_first(&links->waiting, made ? made->text : NULL);
	turn(links->show); /* calls that came meanwhile */
}

static void turn_links(struct keyd_show *show, bool all)
{
	struct links *links = &show->links[all];
	const struct keyd *keyd = show->keyd;

	if (links->making || TAILQ_EMPTY(&links->calls))
		return;
	if (links->made &&
	    (links->changes == keyd->changes || keyd_links_are_same(links->made, keyd))) {
		links->changes = keyd->changes;
		answer_first(&links->calls, links->made->text);
		return;
	}
	links->changes = keyd->changes;
	links->making = keyd_links_make(keyd, all, on_links, links);
	if (links->making)
		TAILQ_CONCAT(&links->waiting, &links->calls, link);
	else
		answer_first(&links->calls, NULL);
}

static void on_turn(evutil_socket_t unused, short what, void *context)
{
	struct keyd_show *show = context;

	(void)unused;
	(void)what;
	turn_jobs(show);
	turn_job(show);
	turn_metrics(show);
	turn_links(show, false);
	turn_links(show, true);
	turn(show);
}

bool keyd_show_is_busy(const struct keyd_show *show)
{
	return has_work(show) || show->links[0].making || show->links[1].making;
}

int keyd_show_new(struct keyd *keyd, struct keyd_show **out, struct hd_error *err)
{
	struct keyd_show *show = calloc(1, sizeof(*show));

	if (!show)
		return hd_error_no_memory(err);
	show->keyd = keyd;
	TAILQ_INIT(&show->jobs);
	TAILQ_INIT(&show->job);
	TAILQ_INIT(&show->metrics);
	for (unsigned i = 0; i < 2; i++) {
		show->links[i].show = show;
		TAILQ_INIT(&show->links[i].calls);
		TAILQ_INIT(&show->links[i].waiting);
	}
	show->turn = event_new(keyd->base, -1, 0, on_turn, show);
	if (!show->turn || event_priority_set(show->turn, KEYD_OTHERS)) {
		keyd_show_free(show);
		return hd_error_no_memory(err);
	}
	*out = show;
	return 0;
}

static void drop_calls(struct calls *calls)
{
	while (!TAILQ_EMPTY(calls)) {
		struct keyd_call *call = TAILQ_FIRST(calls);

		TAILQ_REMOVE(calls, call, link);
		free(call);
	}
}

void keyd_show_free(struct keyd_show *show)
{
	if (!show)
		return;
	drop_calls(&show->jobs);
	drop_calls(&show->job);
	drop_calls(&show->metrics);
	for (unsigned i = 0; i < 2; i++) {
		drop_calls(&show->links[i].calls);
		drop_calls(&show->links[i].waiting);
		keyd_links_free(show->links[i].made);
	}
	keyd_text_release(show->list);
	if (show->turn)
		event_free(show->turn);
	free(show);
}
