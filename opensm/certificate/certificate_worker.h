/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread that makes and writes certificates, at the lowest priority. It gets routings as they come in force. While
 * it works on one, others replace each other: only the newest is next. It waits while tables change, and while adaptive
 * routing is being programmed; when other groups are in force than those it has written, it writes again.
 */
#ifndef OPENSM_CERTIFICATE_WORKER_H
#define OPENSM_CERTIFICATE_WORKER_H

#include <heddle/base/error.h>
#include <heddle/fabric/certificate.h>
#include <limits.h>
#include <stdbool.h>
#include <time.h>

struct certificate_worker;
struct part_context;
struct routing;

/* What it has done. */
struct certificate_report {
	char wanted[PATH_MAX]; /* where files are wanted; "": nowhere */
	/* Of the last one that was written; file "": none was. */
	char file[PATH_MAX], made[HD_CERTIFICATE_MADE];
	time_t written;
	bool current; /* it is of what is in force now */
	/* Why what is in force now has none; "": it has one, or that is not known yet, as while tables change. */
	char reason[HD_ERROR_TEXT];
};

/* Starts the thread; *out is ended with certificate_worker_end(). Errors: of the system, with the reason. */
int certificate_worker_start(struct part_context *context, struct certificate_worker **out,
			     struct hd_error *err);

/* Stops what the thread does, and ends it. NULL is allowed. */
void certificate_worker_end(struct certificate_worker *worker);

/* Where the files are from now on; "": nowhere. `tables`: with what the certificate proves. Another place gets a
 * certificate at once. */
void certificate_worker_place(struct certificate_worker *worker, const char *path, bool tables);

/* Tables change, in a sweep or between sweeps: what is in force is not known before certificate_worker_take(). For any
 * thread, as all below. */
void certificate_worker_wait(struct certificate_worker *worker, bool sweep);

/* A routing is in force, which is held from then on: of the sweep, or of a change since then. NULL: tables of
 * others, or, after a change, those before. A change that ends when another sweep has begun to write says nothing:
 * the sweep does not wait for its end. `late`: GUID of a switch that has not got its table of the routing; 0: all
 * have. */
void certificate_worker_take(struct certificate_worker *worker, struct routing *routing,
			     uint64_t late, bool sweep);

/* Never waits for the thread's work. */
void certificate_worker_report(struct certificate_worker *worker, struct certificate_report *out);

#endif
