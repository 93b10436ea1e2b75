/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "mcast_job.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_member(struct mcast_job *job, const char *name, struct hd_error *err)
{
	uint32_t port = HD_NONE;
	int rc = hd_fabric_resolve(job->fabric, name, &port, err);

	if (rc)
		return rc;
	if (job->member_count == job->member_room) {
		uint32_t room = job->member_room * 2 + 64;
		uint32_t *members = realloc(job->members, room * sizeof(*members));
		if (!members)
			return hd_error_no_memory(err);
		job->members = members;
		job->member_room = room;
	}
	job->members[job->member_count++] = port;
	return 0;
}

/* The line without blanks around it. */
static char *trim(char *line)
{
	size_t length = strlen(line);

	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	while (isspace((unsigned char)*line))
		line++;
	return line;
}

static int add_lines(struct mcast_job *job, FILE *file, struct hd_error *err)
{
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int rc = 0;

	while (!rc && getline(&line, &room, file) >= 0) {
		const char *name = trim(line);
		number++;
		if (*name && *name != '#')
			rc = add_member(job, name, err);
	}
	free(line);
	if (rc)
		return hd_error_prefix(err, rc, "%s:%u", job->members_path, number);
	if (ferror(file))
		return hd_error_set(err, -EIO, "%s: cannot read", job->members_path);
	return 0;
}

static int add_file(struct mcast_job *job, struct hd_error *err)
{
	FILE *file = fopen(job->members_path, "re");

	if (!file)
		return hd_error_set(err, -errno, "%s: cannot open: %s", job->members_path,
				    strerror(errno));
	int rc = add_lines(job, file, err);
	fclose(file);
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
		rc = hd_fabric_resolve(job->fabric, job->source_name, &job->source, err);
	if (!rc && job->members_path && !job->member_count)
		rc = hd_error_set(err, -ENODATA, "%s: no member in it", job->members_path);
	return rc;
}
