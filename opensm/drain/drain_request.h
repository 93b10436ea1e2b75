/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What people ask of the part drain. A request is lines of text, and an empty line: a word, and for `apply` and `undo`
 * names of cables and switches.
 *
 *	list        what is drained
 *	apply       drain these, too
 *	apply-any   the same, even if no order of the changes is proved
 *	undo        use these again
 *	undo-all    use all again
 *	reroute     route afresh, without what is drained
 *	reroute-any the same, even if no order of the changes is proved
 *
 * Before the word there may be a line `progress`: then lines `wait: TEXT` come before the answer.
 */
#ifndef OPENSM_DRAIN_REQUEST_H
#define OPENSM_DRAIN_REQUEST_H

#include "drained.h"

#define DRAIN_REQUEST_MOST 65536u /* bytes */
#define DRAIN_NAMES_MOST 1024u

enum drain_word {
	DRAIN_LIST,
	DRAIN_APPLY,
	DRAIN_APPLY_ANY,
	DRAIN_UNDO,
	DRAIN_UNDO_ALL,
	DRAIN_REROUTE,
	DRAIN_REROUTE_ANY
};

struct drain_request {
	enum drain_word word;
	bool progress; /* say to the client what it waits for */
	uint32_t count;
	const char *names[DRAIN_NAMES_MOST]; /* [count] in `text` */
	char text[DRAIN_REQUEST_MOST + 1];
};

/* Whether more is to be drained, not less. */
static inline bool drain_request_adds(const struct drain_request *request)
{
	return request->word == DRAIN_APPLY || request->word == DRAIN_APPLY_ANY;
}

/*
 * Parses a request. Returns its bytes, with the empty line; 0: it is not complete; -EINVAL it is none, with a reason. Any
 * bytes may come.
 */
long drain_request_parse(const uint8_t *bytes, size_t length, struct drain_request *out,
			 struct hd_error *err);

/*
 * Adds what the names mean in the fabric to `wanted`, which has what is drained already. Each thing goes to `asked`, too,
 * also what was drained before. Errors: those of hd_pull_resolve() without -ENXIO; -EINVAL a cable that is not between
 * switches; -E2BIG; -ENETUNREACH hosts would be cut off: the reason has their number and names; -ENOMEM. After an error
 * both sets are to be released.
 */
int drain_request_add(const struct drain_request *request, const struct hd_fabric *fabric,
		      struct drained_set *wanted, struct drained_set *asked, struct hd_error *err);

/* Takes the names out of `wanted`. They may be those of the fabric (NULL: none is known), those of before the pull, in each
 * form that hd_pull_resolve() takes, or as they are listed. Each thing goes to `asked`. Errors: -ENOENT it is not
 * drained; -EEXIST several have that name: the reason has their GUIDs; -ENOMEM. */
int drain_request_take(const struct drain_request *request, const struct hd_fabric *fabric,
		       struct drained_set *wanted, struct drained_set *asked, struct hd_error *err);

#endif
