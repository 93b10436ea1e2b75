/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "adaptive_state.h"

#include <heddle/ar_manager/pins.h>
#include <stddef.h>
#include <unistd.h>

void adaptive_state_init(struct adaptive *adaptive)
{
	*adaptive = (struct adaptive){.now = {.state = ADAPTIVE_UNKNOWN}, .wake = {-1, -1}};
	pthread_mutex_init(&adaptive->lock, NULL);
}

void adaptive_view_release(struct adaptive_view *view)
{
	hd_ar_plan_free(view->plan);
	*view = (struct adaptive_view){0};
}

void adaptive_state_release(struct adaptive *adaptive)
{
	adaptive_view_release(&adaptive->now);
	pthread_mutex_destroy(&adaptive->lock);
}

/* Only the writer's thread changes the plan, so it may look without the lock. */
static bool is_same(const struct adaptive *adaptive, enum adaptive_state state,
		    const struct hd_ar_plan *plan)
{
	const struct hd_ar_plan *now = adaptive->now.plan;

	if (state == ADAPTIVE_UNKNOWN || adaptive->now.state == ADAPTIVE_UNKNOWN)
		return false;
	return plan && now ? plan == now || hd_ar_plan_equal(plan, now) : !plan && !now;
}

static void tell(const struct adaptive *adaptive)
{
	const uint64_t one = 1;

	for (unsigned i = 0; i < ADAPTIVE_WATCHERS; i++) {
		const int wake = adaptive->wake[i];
		const ssize_t written = wake < 0 ? 0 : write(wake, &one, sizeof(one));
		(void)written; /* it fails only if it has been written very often already */
	}
}

static void replace(struct adaptive *adaptive, enum adaptive_state state, struct hd_ar_plan *plan)
{
	const bool same = is_same(adaptive, state, plan);
	struct adaptive_view old = {0};

	pthread_mutex_lock(&adaptive->lock);
	if (!same) {
		old = adaptive->now;
		adaptive->now.number++;
		adaptive->now.plan = plan ? hd_ar_plan_hold(plan) : NULL;
	}
	adaptive->now.state = state;
	tell(adaptive);
	pthread_mutex_unlock(&adaptive->lock);
	adaptive_view_release(&old);
}

void adaptive_note(struct adaptive *adaptive, enum adaptive_state state, struct hd_ar_plan *plan)
{
	if (!adaptive)
		return;
	if (state != ADAPTIVE_CHANGING) {
		replace(adaptive, state, plan);
		return;
	}
	pthread_mutex_lock(&adaptive->lock);
	if (adaptive->now.state == ADAPTIVE_UNKNOWN)
		adaptive->now.number++;
	adaptive->now.state = state;
	pthread_mutex_unlock(&adaptive->lock);
}

void adaptive_note_foreign(struct adaptive *adaptive, bool foreign)
{
	if (!adaptive)
		return;
	pthread_mutex_lock(&adaptive->lock);
	adaptive->foreign = foreign;
	adaptive->now.state = ADAPTIVE_UNKNOWN;
	adaptive->now.number++;
	tell(adaptive);
	pthread_mutex_unlock(&adaptive->lock);
}

void adaptive_watch(struct adaptive *adaptive, enum adaptive_watcher watcher, int wake)
{
	if (!adaptive)
		return;
	pthread_mutex_lock(&adaptive->lock);
	adaptive->wake[watcher] = wake;
	pthread_mutex_unlock(&adaptive->lock);
}

void adaptive_look(struct adaptive *adaptive, struct adaptive_view *out)
{
	*out = (struct adaptive_view){.state = ADAPTIVE_OFF};
	if (!adaptive)
		return;
	pthread_mutex_lock(&adaptive->lock);
	*out = adaptive->now;
	if (adaptive->foreign)
		out->state = ADAPTIVE_FOREIGN;
	if (out->state == ADAPTIVE_ON)
		hd_ar_plan_hold(out->plan);
	else
		out->plan = NULL;
	pthread_mutex_unlock(&adaptive->lock);
}

enum adaptive_state adaptive_state_now(struct adaptive *adaptive)
{
	struct adaptive_view view;

	adaptive_look(adaptive, &view);
	const enum adaptive_state state = view.state;
	adaptive_view_release(&view);
	return state;
}

bool adaptive_is(struct adaptive *adaptive, const struct adaptive_view *view)
{
	bool same;

	if (!adaptive)
		return view->state == ADAPTIVE_OFF;
	pthread_mutex_lock(&adaptive->lock);
	const enum adaptive_state state =
	    adaptive->foreign ? ADAPTIVE_FOREIGN : adaptive->now.state;
	same = state == view->state && adaptive->now.number == view->number;
	pthread_mutex_unlock(&adaptive->lock);
	return same;
}
