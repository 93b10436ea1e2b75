/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads which jobs have which hosts. */
#include <heddle/analysis/allocation.h>

#include <errno.h>
#include <heddle/base/grow.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 65536u /* hosts of a list */
#define ALL_MAX (1u << 24) /* of all lists; a line of 20 bytes can have LIST_MAX */
#define NO_LIST "expected a list of hosts such as node[01-04,7],gpu1"

/* A host by the first part of its name. */
struct named {
	struct hd_cursor name;
	uint32_t host;
};

struct allocating {
	const struct hd_fabric *fabric;
	struct hd_allocation *allocation;
	struct hd_error *err;
	struct hd_lines lines;
	struct named *named; /* [host_count] by name */
	uint32_t job_room;
	uint32_t job; /* at hand */
	uint32_t listed, listed_in_all; /* hosts of the list at hand, and of all until now */
	struct hd_skipped_lines unknown; /* lines with a name that no host has */
	/* of a table: the number of the column from the left, and of the hosts from the right; HD_NONE: no table */
	uint32_t job_column, host_column;
	bool details; /* scontrol show job */
};

/* ---- names ---- */

static struct hd_cursor short_name(const char *name)
{
	return (struct hd_cursor){name, name + strcspn(name, " \t.")};
}

static int compare_names(struct hd_cursor one, struct hd_cursor other)
{
	size_t length = (size_t)(one.end - one.at), other_length = (size_t)(other.end - other.at);
	int order = memcmp(one.at, other.at, length < other_length ? length : other_length);

	return order ? order : (length > other_length) - (length < other_length);
}

static int by_name(const void *one, const void *other)
{
	const struct named *a = one, *b = other;
	int order = compare_names(a->name, b->name);

	return order ? order : (a->host > b->host) - (a->host < b->host);
}

static bool list_names(struct allocating *job)
{
	const struct hd_fabric *fabric = job->fabric;

	job->named = calloc((size_t)fabric->host_count + 1, sizeof(*job->named));
	for (uint32_t host = 0; job->named && host < fabric->host_count; host++)
		job->named[host] = (struct named){
		    short_name(fabric->node_name[fabric->port_node[fabric->host_port[host]]]),
		    host};
	if (job->named && fabric->host_count)
		qsort(job->named, fabric->host_count, sizeof(*job->named), by_name);
	return job->named;
}

/* The first of the sorted names that is not below `name`. */
static uint32_t find_name(const struct allocating *job, struct hd_cursor name)
{
	uint32_t low = 0, high = job->fabric->host_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_names(job->named[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void give(struct allocating *job, const char *text)
{
	uint32_t *host_job = job->allocation->host_job;
	const struct hd_cursor name = short_name(text);
	uint32_t at = find_name(job, name), first = at;

	for (; at < job->fabric->host_count && !compare_names(job->named[at].name, name); at++) {
		uint32_t host = job->named[at].host;
		host_job[host] = host_job[host] == HD_NONE || host_job[host] == job->job
				     ? job->job
				     : HD_SEVERAL_JOBS;
	}
	if (at > first)
		return;
	job->allocation->unknown++;
	hd_skipped_lines_add(&job->unknown, &job->lines);
}

/* ---- lists of hosts ---- */

static int no_list(struct allocating *job)
{
	return hd_lines_error(&job->lines, job->err, NO_LIST);
}

static int expand(struct allocating *job, char *name, size_t length, struct hd_cursor rest);

/* The numbers of a range, with zeros before them as in its first number. */
static int expand_range(struct allocating *job, char *name, size_t length, struct hd_cursor range,
			struct hd_cursor rest)
{
	const char *start = range.at;
	uint32_t first, last;

	if (!hd_take_decimal(&range, &first))
		return no_list(job);
	int digits = (int)(range.at - start);
	last = first;
	if (hd_take_text(&range, "-") && !hd_take_decimal(&range, &last))
		return no_list(job);
	if (!hd_cursor_done(&range) || last < first || last - first >= LIST_MAX || digits > 10)
		return no_list(job);
	for (uint64_t number = first; number <= last; number++) {
		int written =
		    snprintf(name + length, HD_NAME_SIZE - length, "%0*" PRIu64, digits, number);
		if (written < 0 || (size_t)written >= HD_NAME_SIZE - length)
			return no_list(job);
		int rc = expand(job, name, length + (size_t)written, rest);
		if (rc)
			return rc;
	}
	return 0;
}

/* A name whose first `length` bytes are in `name`, with brackets in the rest of it. */
static int expand(struct allocating *job, char *name, size_t length, struct hd_cursor rest)
{
	struct hd_cursor ranges, range;
	int rc = 0;

	while (!hd_cursor_done(&rest) && *rest.at != '[') {
		if (*rest.at == ']' || length + 1 >= HD_NAME_SIZE)
			return no_list(job);
		name[length++] = *rest.at++;
	}
	if (hd_cursor_done(&rest)) {
		if (!length)
			return no_list(job);
		if (++job->listed > LIST_MAX)
			return hd_lines_error(&job->lines, job->err, "a list of more than %u hosts",
					      LIST_MAX);
		if (++job->listed_in_all > ALL_MAX)
			return hd_lines_error(&job->lines, job->err,
					      "all lists together have more than %u hosts",
					      ALL_MAX);
		name[length] = '\0';
		give(job, name);
		return 0;
	}
	hd_take_text(&rest, "[");
	if (!hd_take_until(&rest, "]", &ranges) || hd_cursor_done(&ranges))
		return no_list(job);
	while (!rc && !hd_cursor_done(&ranges)) {
		if (!hd_take_until(&ranges, ",", &range)) {
			range = ranges;
			ranges.at = ranges.end;
		}
		rc = expand_range(job, name, length, range, rest);
	}
	return rc;
}

/* The end of a name of the list: a comma outside of brackets. */
static const char *end_of_name(struct hd_cursor list)
{
	bool inside = false;

	for (; !hd_cursor_done(&list) && (inside || *list.at != ','); list.at++)
		inside = *list.at == '[' || (inside && *list.at != ']');
	return list.at;
}

static int read_list(struct allocating *job, struct hd_cursor list)
{
	char name[HD_NAME_SIZE];
	int rc = 0;

	job->listed = 0;
	do {
		struct hd_cursor one = {list.at, end_of_name(list)};
		rc = expand(job, name, 0, one);
		list.at = one.end;
	} while (!rc && hd_take_text(&list, ","));
	return rc;
}

/* ---- jobs ---- */

static int add_job(struct allocating *job, struct hd_cursor name)
{
	struct hd_allocation *allocation = job->allocation;
	char **jobs =
	    hd_grow(allocation->jobs, allocation->job_count, 1, &job->job_room, sizeof(*jobs));

	if (!jobs)
		return hd_error_no_memory(job->err);
	allocation->jobs = jobs;
	jobs[allocation->job_count] = strndup(name.at, (size_t)(name.end - name.at));
	if (!jobs[allocation->job_count])
		return hd_error_no_memory(job->err);
	job->job = allocation->job_count++;
	return 0;
}

/* ---- forms ---- */

/* Words of scontrol show job: JobId=5, NodeList=node[1-2]. */
static int read_details(struct allocating *job, struct hd_cursor line)
{
	struct hd_cursor word;
	int rc = 0;

	while (!rc && hd_take_word(&line, &word)) {
		if (hd_take_text(&word, "JobId="))
			rc = add_job(job, word);
		else if (hd_take_text(&word, "NodeList=") && !hd_cursor_is(&word, "(null)") &&
			 !hd_cursor_done(&word))
			rc = job->job == HD_NONE ? hd_lines_error(&job->lines, job->err,
								  "expected JobId= before this")
						 : read_list(job, word);
	}
	return rc;
}

/* The head of a table; false: it is none. */
static bool read_head(struct allocating *job, struct hd_cursor line)
{
	struct hd_cursor word;
	uint32_t columns = 0, hosts = HD_NONE;

	job->job_column = 0;
	for (; hd_take_word(&line, &word); columns++) {
		if (hd_cursor_is(&word, "JOBID"))
			job->job_column = columns;
		if (hd_take_text(&word, "NODELIST"))
			hosts = columns;
	}
	job->host_column = hosts == HD_NONE ? HD_NONE : columns - 1 - hosts;
	return hosts != HD_NONE;
}

/* Word number `index` from the left. */
static bool word_at(struct hd_cursor line, uint32_t index, struct hd_cursor *word)
{
	bool found = hd_take_word(&line, word);

	while (found && index-- > 0)
		found = hd_take_word(&line, word);
	return found;
}

static int read_row(struct allocating *job, struct hd_cursor line)
{
	struct hd_cursor word = {NULL, NULL}, name, list;
	struct hd_cursor rest = line;
	uint32_t words = 0, from_right = job->host_column == HD_NONE ? 0 : job->host_column;

	for (struct hd_cursor next; hd_take_word(&rest, &next); words++)
		word = next;
	if (word.end > word.at && word.end[-1] == ')') /* a reason, or (null) */
		return 0;
	if (words < 2 || from_right >= words || !word_at(line, job->job_column, &name) ||
	    !word_at(line, words - 1 - from_right, &list))
		return hd_lines_error(&job->lines, job->err,
				      "expected a job and its list of hosts");
	int rc = add_job(job, name);
	return rc ? rc : read_list(job, list);
}

static int read_lines(struct allocating *job)
{
	bool first = true;
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&job->lines, job->err)) != 0) {
		if (more < 0)
			return more;
		struct hd_cursor line = hd_lines_cursor(&job->lines);
		hd_take_blanks(&line);
		if (hd_cursor_done(&line) || *line.at == '#')
			continue;
		struct hd_cursor start = line;
		job->details |= first && hd_take_text(&start, "JobId=");
		if (job->details)
			rc = read_details(job, line);
		else if (!first || !read_head(job, line))
			rc = read_row(job, line);
		first = false;
	}
	return rc;
}

static int allocation_finish(struct allocating *job, const struct hd_log *log)
{
	struct hd_allocation *allocation = job->allocation;

	for (uint32_t host = 0; host < job->fabric->host_count; host++)
		allocation->hosts += allocation->host_job[host] != HD_NONE;
	if (!allocation->job_count)
		return hd_error_set(job->err, -ENODATA, "%s: no job that has hosts",
				    job->lines.name);
	if (!allocation->hosts && allocation->unknown)
		return hd_error_set(job->err, -ENODATA,
				    "%s:%u: the fabric has none of these hosts: '%s'",
				    job->lines.name, job->unknown.first_number, job->unknown.first);
	if (allocation->unknown)
		hd_log(log, HD_LOG_WARNING,
		       "%s:%u: the fabric does not have %u hosts of this file; the first is here: "
		       "'%s'",
		       job->lines.name, job->unknown.first_number, allocation->unknown,
		       job->unknown.first);
	return 0;
}

int hd_allocation_parse(const struct hd_text *text, const struct hd_fabric *fabric,
			const struct hd_log *log, struct hd_allocation **out, struct hd_error *err)
{
	struct allocating job = {
	    .fabric = fabric, .err = err, .job = HD_NONE, .host_column = HD_NONE};
	int rc = hd_text_check(text, err);

	if (rc)
		return rc;
	job.lines = hd_lines_of(text);
	job.allocation = calloc(1, sizeof(*job.allocation));
	if (job.allocation)
		job.allocation->host_job =
		    malloc(((size_t)fabric->host_count + 1) * sizeof(uint32_t));
	if (!job.allocation || !job.allocation->host_job || !list_names(&job))
		rc = hd_error_no_memory(err);
	if (!rc) {
		memset(job.allocation->host_job, 0xFF,
		       ((size_t)fabric->host_count + 1) * sizeof(uint32_t));
		rc = read_lines(&job);
	}
	if (!rc)
		rc = allocation_finish(&job, log);
	free(job.named);
	if (rc)
		hd_allocation_free(job.allocation);
	else
		*out = job.allocation;
	return rc;
}

void hd_allocation_free(struct hd_allocation *allocation)
{
	if (!allocation)
		return;
	for (uint32_t i = 0; i < allocation->job_count; i++)
		free(allocation->jobs[i]);
	free(allocation->jobs);
	free(allocation->host_job);
	free(allocation);
}

const char *hd_allocation_name(const struct hd_allocation *allocation, uint32_t job)
{
	return job < allocation->job_count ? allocation->jobs[job]
	       : job == HD_SEVERAL_JOBS	   ? "several"
					   : "-";
}
