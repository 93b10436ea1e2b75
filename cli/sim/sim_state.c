/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define HEAD "heddle-sim-runs 1 %016" PRIx64 "\n"
#define HEAD_SIZE 64
#define LARGEST ((size_t)1 << 30) /* bytes of a file of runs */

int sim_state_take(const struct hd_text *text, const struct hd_scenario_runs *runs,
		   struct hd_record **records, size_t *length, struct hd_error *err)
{
	struct hd_lines lines = hd_lines_of(text);
	struct hd_record *record;
	uint32_t run;
	int more;

	*length = 0;
	while ((more = hd_record_read(&lines, &run, &record, err)) > 0) {
		*length = (size_t)(lines.at - text->bytes);
		if (run >= runs->count || record->partial || records[run])
			hd_record_free(record);
		else
			records[run] = record;
	}
	return more;
}

static char *path_of(const char *path, uint32_t part)
{
	char *name = NULL;
	int rc = part ? asprintf(&name, "%s.%" PRIu32, path, part) : asprintf(&name, "%s", path);

	return rc < 0 ? NULL : name;
}

/* Reads one file; *length bytes of it are whole. */
static int read_file(const char *path, const struct hd_scenario_runs *runs,
		     struct hd_record **records, size_t *length, struct hd_error *err)
{
	char head[HEAD_SIZE];
	struct hd_text text;
	int rc = hd_text_open_regular(path, LARGEST, &text, err);

	*length = 0;
	if (rc == -ENOENT)
		return rc;
	if (rc)
		return rc;
	size_t size = (size_t)snprintf(head, sizeof(head), HEAD, runs->digest);
	/* A process may have ended while it wrote the head: then no run is kept yet. */
	bool begun = text.length >= size;
	if (memcmp(text.bytes, head, begun ? size : text.length) != 0)
		rc = hd_error_set(err, -ESTALE,
				  "%s keeps runs of another scenario, other values or seeds; "
				  "remove it, or name another file",
				  path);
	if (!rc && begun) {
		struct hd_text rest = {
		    .bytes = text.bytes + size, .length = text.length - size, .name = path};
		rc = rest.length ? sim_state_take(&rest, runs, records, length, err) : 0;
		*length += size;
	}
	hd_text_close(&text);
	return rc;
}

static int read_all(const char *path, const struct processes *processes,
		    const struct hd_scenario_runs *runs, struct hd_record **records,
		    size_t *own_length, struct hd_error *err)
{
	int rc = 0;

	*own_length = 0;
	for (uint32_t part = 0; !rc; part++) {
		char *name = path_of(path, part);
		size_t length;
		if (!name)
			return hd_error_no_memory(err);
		rc = read_file(name, runs, records, &length, err);
		free(name);
		if (part == processes->part)
			*own_length = length;
		if (rc == -ENOENT && part < processes->parts)
			rc = 0;
	}
	return rc == -ENOENT ? 0 : rc;
}

/* Goes on behind the last whole record. */
static int open_own(struct sim_state *state, size_t length, uint64_t digest, struct hd_error *err)
{
	state->stream = fopen(state->path, "ae");
	if (state->stream && flock(fileno(state->stream), LOCK_EX | LOCK_NB) &&
	    errno == EWOULDBLOCK)
		return hd_error_set(err, -EBUSY, "%s: another heddle keeps its runs there",
				    state->path);
	if (!state->stream || ftruncate(fileno(state->stream), (off_t)length) ||
	    (!length && fprintf(state->stream, HEAD, digest) < 0) || fflush(state->stream))
		return hd_error_set(err, -errno, "cannot write %s: %s", state->path,
				    strerror(errno));
	return 0;
}

int sim_state_open(struct sim_state *state, const char *path, const struct processes *processes,
		   const struct hd_scenario_runs *runs, struct hd_record **records,
		   struct hd_error *err)
{
	size_t length = 0;

	*state = (struct sim_state){.stream = NULL};
	if (!path)
		return 0;
	state->path = path_of(path, processes->part);
	int rc = state->path ? read_all(path, processes, runs, records, &length, err)
			     : hd_error_no_memory(err);
	/* Nobody may write before all have read. */
	if (!processes_ready(processes, !rc) && !rc)
		rc = hd_error_set(err, -EIO, "another process failed");
	return rc ? rc : open_own(state, length, runs->digest, err);
}

int sim_state_add(struct sim_state *state, const struct hd_record *record, uint32_t run,
		  struct hd_error *err)
{
	if (!state->stream)
		return 0;
	hd_record_write(record, run, state->stream);
	if (!fflush(state->stream) && !ferror(state->stream))
		return 0;
	return hd_error_set(err, -errno, "cannot write %s: %s; it keeps the runs before this one",
			    state->path, strerror(errno));
}

void sim_state_close(struct sim_state *state)
{
	if (state->stream)
		fclose(state->stream);
	free(state->path);
	*state = (struct sim_state){.stream = NULL};
}
