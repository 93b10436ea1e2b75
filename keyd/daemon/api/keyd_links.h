/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loads of links as JSON, which a worker makes of a copy. */
#ifndef KEYD_LINKS_H
#define KEYD_LINKS_H

#include "keyd.h"

/* A text, and what it was made of. */
struct keyd_links {
	struct keyd_text *text;
	struct keyd_view *view; /* a reference; NULL: there was none */
	uint32_t link_count;
	bool all; /* also links without flows */
	uint32_t flows[]; /* [link_count] */
};

struct keyd_links_task;

/* Whether a text made now would be the same. O(links). */
bool keyd_links_are_same(const struct keyd_links *links, const struct keyd *keyd);

/* Bytes of a text, about. links: the last one, or NULL. */
size_t keyd_links_size(const struct keyd *keyd, const struct keyd_links *links);

/* Has a worker make a text of the present loads. done() gets it later, or NULL: no memory. It is not
 * called if the daemon ends before. NULL: no memory. */
struct keyd_links_task *keyd_links_make(const struct keyd *keyd, bool all,
					void (*done)(void *context, struct keyd_links *links),
					void *context);

/* NULL is allowed. Texts that are being sent stay. */
void keyd_links_free(struct keyd_links *links);

#endif
