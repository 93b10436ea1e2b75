/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which jobs have which hosts, as Slurm says it. */
#ifndef HEDDLE_ANALYSIS_ALLOCATION_H
#define HEDDLE_ANALYSIS_ALLOCATION_H

#include <heddle/base/error.h>
#include <heddle/base/text.h>
#include <heddle/fabric/graph.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_SEVERAL_JOBS (HD_NONE - 1)

struct hd_allocation {
	uint32_t job_count;
	char **jobs; /* [job_count] their numbers or names, in the order of the file */
	uint32_t *host_job; /* [host_count] HD_NONE: no job; HD_SEVERAL_JOBS */
	uint32_t hosts; /* that have a job */
	uint32_t unknown; /* names that no host of the fabric has */
};

/*
 * Reads what `scontrol show job` prints, or a table whose first line names its columns, as squeue prints it
 * (JOBID, or else the first column, and NODELIST, or else the last), or lines of a job and its hosts. Hosts are
 * lists as Slurm writes them: "node[01-04,7],gpu1". "(null)" and a reason in brackets are no hosts. A host is the node
 * whose description has this as its first word, or a word that begins with it and a dot. Lines that begin with # are
 * comments. *out is freed with hd_allocation_free(). Errors, with file and line: -EINVAL a list that is none, or of
 * more than 65,536 hosts; -ENODATA no job, or no host of the fabric; those of hd_text_check(); -ENOMEM.
 * O(bytes + hosts).
 */
int hd_allocation_parse(const struct hd_text *text, const struct hd_fabric *fabric,
			const struct hd_log *log, struct hd_allocation **out, struct hd_error *err);

/* NULL is allowed. */
void hd_allocation_free(struct hd_allocation *allocation);

/* The name of a job, "-" without one, "several". */
const char *hd_allocation_name(const struct hd_allocation *allocation, uint32_t job);

/* Whether hosts of these two jobs may send to each other: of the same job, or one of them is of none or of
 * several. */
static inline bool hd_allocation_allows(uint32_t one, uint32_t other)
{
	return one == other || one >= HD_SEVERAL_JOBS || other >= HD_SEVERAL_JOBS;
}

#ifdef __cplusplus
}
#endif

#endif
