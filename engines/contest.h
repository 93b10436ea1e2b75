/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engines among which `auto` chooses, and what the tables of each are worth on a fabric. */
#ifndef ENGINES_CONTEST_H
#define ENGINES_CONTEST_H

#include "held_log.h"

#include <heddle/engines.h>

/* In the order in which they are preferred if their tables are worth about the same. */
enum { CONTEST_DMODK, CONTEST_UPDOWN, CONTEST_SPF, CONTEST_ENGINES };

struct contest_engine {
	const struct hd_engine *engine;
	bool tried; /* it has made tables, or has refused */
	int refusal; /* negative errno with `reason`; 0: it has not refused */
	struct hd_error reason;
	struct hd_routes *routes; /* NULL: none, or taken */
	bool bare; /* the routes lack all paths to and from adapters that are set aside */
	struct held_log remarks;
	double worth; /* of routes, after contest_measure() */
	/* Entries that the routes lack, after contest_complete(): those of switches without a path
	 * at all, and those that the lanes have no room for. */
	uint64_t missing;
};

struct contest {
	const struct hd_route_request *request; /* that of auto */
	struct contest_engine engines[CONTEST_ENGINES];
	const struct hd_routes *in_place; /* measured, too, unless it is NULL */
	double in_place_worth;
};

/* Released with contest_release(). It must not be copied or moved. */
void contest_begin(struct contest *contest, const struct hd_route_request *request);

/* The number of an engine by its name; CONTEST_ENGINES: it is none of these. */
unsigned contest_find(const char *name);

/*
 * How an engine routes. afresh: the tables in place do not matter to it. bare: only to hosts and
 * switches; paths to and from other adapters count for nothing here, and take most of the time.
 */
struct contest_way {
	bool afresh, bare;
};

/* Routes with one engine, which has not been tried yet. A refusal is no error. Errors: -ECANCELED,
 * -ENOMEM. */
int contest_try(struct contest *contest, unsigned number, struct contest_way way,
		struct hd_error *err);

/* Routes again with all paths if the tables of an engine are bare, and counts what is missing. The
 * engine may refuse now, and its tables may be worth less: paths between hosts may have made room for
 * others. So they are measured again. Errors: -ECANCELED, -ENOMEM. */
int contest_complete(struct contest *contest, unsigned number, bool afresh, struct hd_error *err);

/*
 * *number is an engine with complete tables. Makes it the engine whose tables lack the fewest
 * entries of those worth at most CONTEST_SERVE less. Errors: -ECANCELED, -ENOMEM. Cost: that of
 * routing with those engines, if any entry of an adapter that is set aside is missing.
 */
int contest_serve(struct contest *contest, bool afresh, unsigned *number, struct hd_error *err);

/* Measures all tables, and those in place in the same way. Errors: -ECANCELED, -ENOMEM. Cost: that of
 * bisections_worth(). */
int contest_measure(struct contest *contest, struct hd_error *err);

/* The engine to take: the first whose tables are worth at most CONTEST_EQUAL less than the best.
 * CONTEST_ENGINES: all have refused. */
unsigned contest_best(const struct contest *contest);

#define CONTEST_EQUAL .002
/* Bandwidth that paths to all adapters are worth: without them, aggregation fails there. */
#define CONTEST_SERVE .05

/* Writes ", dmodk .324, spf .381; updown refuses: ..." for all that were tried but one. */
void contest_print_others(const struct contest *contest, unsigned one, char *text, size_t size);

/* The tables of an engine, which writes its remarks now. Later freed by the caller. */
struct hd_routes *contest_take(struct contest *contest, unsigned number);

void contest_release(struct contest *contest);

#endif
