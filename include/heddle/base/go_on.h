/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a long computation is still wanted. One that can be stopped asks from time to time: about once a
 * millisecond. After the answer "no" it ends with -ECANCELED, and leaves nothing behind.
 */
#ifndef HEDDLE_BASE_GO_ON_H
#define HEDDLE_BASE_GO_ON_H

#include <heddle/base/error.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: never stop. */
struct hd_go_on {
	/* False: stop; it must be false from then on. All threads of the computation may call it, several
	 * at the same time. NULL: never stop. */
	bool (*ask)(void *context);
	void *context;
};

/* NULL: never stop. */
static inline bool hd_go_on_ask(const struct hd_go_on *go_on)
{
	return !go_on || !go_on->ask || go_on->ask(go_on->context);
}

/* Returns -ECANCELED and sets the reason. */
int hd_go_on_stopped(struct hd_error *err);

/* Gives a reason to the `rc` of a computation that has none. 0 and -ECANCELED are returned as they are. Any
 * other number means that memory was short, and -ENOMEM is returned. */
int hd_go_on_explain(int rc, struct hd_error *err);

/* Asks. Returns 0, or -ECANCELED with the reason. */
int hd_go_on_check(const struct hd_go_on *go_on, struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
