/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mcast_job.h"

#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/words.h>
#include <stdlib.h>

static int add_member(struct mcast_job *job, const char *name, struct hd_error *err)
{
	uint32_t port = HD_NONE;
	int rc = hd_fabric_resolve(job->fabric, name, HD_RESOLVE_ANY, &port, err);

	if (rc)
		return rc;
	uint32_t *members =
	    hd_grow(job->members, job->member_count, 1, &job->member_room, sizeof(*members));
	if (!members)
		return hd_error_no_memory(err);
	job->members = members;
	job->members[job->member_count++] = port;
	return 0;
}

static int add_lines(struct mcast_job *job, struct hd_words *words, struct hd_error *err)
{
	int rc = 0;

	while (!rc && (rc = hd_words_next_name(words, err)) > 0) {
		rc = add_member(job, words->word[0], err);
		if (rc)
			return hd_lines_error_prefix(&words->lines, rc, err);
	}
	return rc;
}

static int add_file(struct mcast_job *job, struct hd_error *err)
{
	struct hd_words words;
	struct hd_text text;
	int rc = hd_text_open(job->members_path, &text, err);

	if (rc)
		return rc;
	rc = hd_words_begin(&words, &text, err);
	if (!rc)
		rc = add_lines(job, &words, err);
	hd_text_close(&text);
	return rc;
}

int mcast_members_find(struct mcast_job *job, struct hd_error *err)
{
	int rc = 0;

	job->source = HD_NONE;
	for (int i = 0; !rc && i < job->name_count; i++)
		rc = add_member(job, job->names[i], err);
	if (!rc && job->members_path)
		rc = add_file(job, err);
	if (!rc && job->source_name)
		rc = hd_fabric_resolve(job->fabric, job->source_name, HD_RESOLVE_ANY, &job->source,
				       err);
	if (!rc && job->members_path && !job->member_count)
		rc = hd_error_set(err, -ENODATA, "%s: the file has no member", job->members_path);
	return rc;
}
