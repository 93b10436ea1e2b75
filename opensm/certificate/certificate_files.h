/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a certificate: PATH itself; PATH.sls with the service levels, if the routing has any; and, if the tables
 * are wanted, PATH.topo, PATH.lfts, and PATH.far with the plan of adaptive routing, if it is on. Where a routing has no
 * service levels, PATH.sls of an earlier one is removed, and PATH.far if the tables are wanted.
 */
#ifndef OPENSM_CERTIFICATE_FILES_H
#define OPENSM_CERTIFICATE_FILES_H

#include "file_mark.h"

#include <heddle/base/go_on.h>
#include <limits.h>
#include <stdbool.h>

struct hd_ar_plan;
struct routing;

struct certificate_request {
	const struct routing *routing;
	struct hd_ar_plan
	    *plan; /* in force, without what routing keys change; NULL: no adaptive routing */
	const char *path; /* absolute */
	const char *made; /* for the head of the file */
	bool tables; /* write what the certificate proves, too */
	struct hd_go_on go_on;
};

/*
 * Makes the certificate and replaces the files. Each is written beside its place (heddle/base/replacement.h), the disk
 * has it then, and it is renamed; the certificate comes last, then its folder. Errors: those of
 * hd_ar_certify(), hd_ar_plan_pinned() and the system; -ECANCELED; all with the reason. An error before the first
 * rename leaves all old files.
 */
int certificate_write(const struct certificate_request *request, struct hd_error *err);

#define CERTIFICATE_FILES 5u

/* The files of a certificate that was written. */
struct certificate_placed {
	char path[PATH_MAX]; /* "": none was */
	struct file_mark files[CERTIFICATE_FILES];
};

/* Notes the files that certificate_write() has just placed. */
void certificate_mark(const struct certificate_request *request, struct certificate_placed *out);

/* Removes those that nobody has replaced or changed since. Returns how many. */
unsigned certificate_remove(const struct certificate_placed *placed);

#endif
