/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a routing costs an application: the shares of its run time that it spends in patterns of
 * communication, and how much of that time would be left if each pattern had full bandwidth.
 * Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
 * routing in high-performance networks", 2008, section 5.2.
 */
#ifndef HEDDLE_ANALYSIS_APPLICATION_H
#define HEDDLE_ANALYSIS_APPLICATION_H

#include <heddle/analysis/pattern.h>

/* One line of the file. */
struct hd_application_part {
	double share; /* of the run time, above 0, at most 1 */
	char *text; /* the pattern as in the file: "neighbours:grid=4,4" */
	const struct hd_pattern_kind *kind;
	struct hd_options *options; /* of the kind */
	double bandwidth; /* as the file says, above 0, at most 1; 0: the file says nothing */
	unsigned line;
};

struct hd_application {
	uint32_t count;
	struct hd_application_part *parts; /* [count], in the order of the file */
	double communication; /* sum of the shares, at most 1 */
};

/*
 * Reads the file: on each line a share of the run time, a pattern as NAME[:KEY=VALUE,...], and
 * maybe the bandwidth that the pattern has, as a share of full bandwidth. Shares are "0.274" or
 * "27.4%". # begins a comment. *out is freed with hd_application_free(). Errors, which name file
 * and line: -EINVAL a share or bandwidth that is none, shares of more than 1 in all, a line of
 * another form; -ENOENT an unknown pattern or option, and other errors of the pattern's options;
 * -ENODATA no line; errno of open and read; -ENOMEM.
 */
int hd_application_read(const char *path, struct hd_application **out, struct hd_error *err);

/* The same from memory; `name` stands for the file in messages. */
int hd_application_parse(const char *text, size_t length, const char *name,
			 struct hd_application **out, struct hd_error *err);

void hd_application_free(struct hd_application *application);

/*
 * The time that is left, as a share of today's, if each pattern had full bandwidth: 1 - sum of
 * share * (1 - bandwidth). bandwidth[count] are those of the parts.
 */
double hd_application_time_left(const struct hd_application *application, const double *bandwidth);

/*
 * The mean share of bandwidth that the routes of these patterns have on one crossbar for all
 * hosts: 1, unless hosts send or receive several flows in a round. The patterns are those that
 * hd_congestion_run() draws with that mapping and seed. Errors: -ENODATA no flow; -ENOMEM. Cost:
 * O(patterns * flows); O(1) if no host ever sends or receives twice in a round.
 */
int hd_pattern_crossbar(const struct hd_pattern *pattern, const struct hd_ranks *ranks,
			enum hd_mapping mapping, uint64_t seed, uint64_t patterns, double *mean,
			struct hd_error *err);

#endif
