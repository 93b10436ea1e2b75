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
	int code = hd_fabric_resolve(job->fabric, name, &port, err);
	if (code)
		return code;
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
	int code = 0;
	while (!code && getline(&line, &room, file) >= 0) {
		const char *name = trim(line);
		number++;
		if (*name && *name != '#')
			code = add_member(job, name, err);
	}
	free(line);
	if (code)
		return hd_error_prefix(err, code, "%s:%u", job->members_path, number);
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
	int code = add_lines(job, file, err);
	fclose(file);
	return code;
}

int cli_mcast_find_members(struct mcast_job *job, struct hd_error *err)
{
	int code = 0;
	job->source = HD_NONE;
	for (int i = 0; !code && i < job->name_count; i++)
		code = add_member(job, job->names[i], err);
	if (!code && job->members_path)
		code = add_file(job, err);
	if (!code && job->source_name)
		code = hd_fabric_resolve(job->fabric, job->source_name, &job->source, err);
	if (!code && job->members_path && !job->member_count)
		code = hd_error_set(err, -ENODATA, "%s: no member in it", job->members_path);
	return code;
}
