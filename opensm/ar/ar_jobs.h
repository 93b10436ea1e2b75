/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A job of adaptive routing, and what those who do it need of the one who calls them. */
#ifndef OPENSM_AR_JOBS_H
#define OPENSM_AR_JOBS_H

#include "ar_settings.h"
#include "writer.h"

struct ar_repair;
struct hd_ar_steps;
struct hd_routes;
struct routing;

/* In which AR leads the steps of tables that change, or goes off; switches that go silent meanwhile have longer. */
#define AR_PREPARE_MS 5000u
/* For which the sweeper thread waits at most. The job ends by itself when all switches have answered or were given up; on
 * a machine that is very busy that takes longer, and tables that change before it can make packets circle. */
#define AR_PREPARE_MOST_MS 60000u

enum ar_task {
	AR_PREPARE, /* the switches are to get the tables of the routing: AR leads the steps, or goes off before */
	AR_PROGRAM, /* they have these tables */
	AR_DISABLE, /* AR is not wanted, or they will get tables that are not ours: what is on is switched off */
	AR_RECOVER, /* all links are active: switch fast recovery on */
	AR_TELL, /* what is left of an AR_PROGRAM: hosts that do not know their mask yet */
	AR_REPAIR /* a step of a repair: ar_repair.h */
};

struct ar_job {
	enum ar_task task;
	struct routing *routing; /* held; of AR_DISABLE one without tables */
	/* Of AR_PREPARE: whose forwarding tables the switches have; held; NULL: not known. */
	struct routing *before;
	/* Of AR_PREPARE: caller->write_tables() writes forwarding tables, and the switches hold these, in the shape of the
	 * routing's fabric; not owned. NULL: OpenSM writes them in an order of its own. */
	const struct hd_routes *tables;
	struct hd_smp_address *addresses; /* of its switches */
	struct ar_repair *repair; /* of AR_REPAIR */
	struct ar_settings settings; /* owned */
	struct hd_smp_limits limits;
	uint64_t port_guid;
	uint64_t m_key; /* host byte order */
	unsigned threads;
	/* What the switches hold is not known any more: OpenSM has become the master, or a sweep
	 * was not completed. */
	bool fresh;
	bool waited; /* the sweeper thread waits for it: who does not answer is asked again later */
	bool late; /* of AR_DISABLE: OpenSM's own engine has written tables before */
	bool proved; /* of AR_DISABLE: tables come next whose order Heddle proves */
	bool reread; /* no route has changed: read the tables back */
	bool unfinished; /* it replaces AR_PROGRAM, so AR tables are older than forwarding tables */
};

struct ar_caller {
	struct writer *writer;
	struct opensm_log *log;
	/* False, if the job is to stop. */
	bool (*go_on)(void *caller);
	/* Writes the forwarding entries of a step of AR_PREPARE, from 1. Errors: with a reason; -ECANCELED: nobody waits for
	 * that any more. */
	int (*write_tables)(void *caller, const struct hd_ar_steps *steps, uint32_t step,
			    struct hd_error *err);
	/* The job is done with the switches. */
	void (*note_told)(void *caller);
};

/* An independent copy of a job without a routing; NULL: no memory. */
struct ar_job *ar_job_copy(const struct ar_job *job);

/* NULL is allowed. */
void ar_job_free(struct ar_job *job);

#endif
