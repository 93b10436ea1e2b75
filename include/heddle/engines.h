/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routing engines: pure functions from a fabric to forwarding tables.
 *
 * A new engine is its own file pair or folder in engines/ and one line in engines/registry.c. The
 * command, the OpenSM plugin, the tables of the documentation and the conformance tests read the
 * registry and the facts in struct hd_engine. CONTRIBUTING.md shows it step by step. An engine can
 * also be a module, outside this tree: heddle/engines/module.h.
 */
#ifndef HEDDLE_ENGINES_H
#define HEDDLE_ENGINES_H

#include <heddle/base/go_on.h>
#include <heddle/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An enum hd_policy_file as a bit of hd_engine.policies. */
#define HD_POLICY_BIT(file) (1u << (file))

/* Every engine has this part of the policy: hd_engine_route() sees to it. */
#define HD_POLICY_COMMON HD_POLICY_BIT(HD_POLICY_AGGREGATION)

/* An option of OpenSM, or of heddle.conf, that is part of the policy. */
struct hd_policy_option {
	const char *name; /* as in opensm.conf: "root_guid_file" */
	const char *summary; /* half a sentence: what an engine that uses it does with it */
	enum hd_policy_file file; /* the file itself, or the one to which the option belongs */
};

struct hd_route_request {
	const struct hd_fabric *fabric;
	const struct hd_options *options; /* made from the engine's own table; NULL = defaults */
	const struct hd_policy *policy; /* NULL = none */
	/*
	 * The tables in place, of the shape of `fabric` (hd_routes_rebase()), or NULL to route
	 * afresh. With them an engine changes no entry without need.
	 */
	const struct hd_routes *previous;
	/*
	 * Beside `previous` and of the same shape: the tables of the last routing afresh and what has
	 * grown since (hd_stored_tables_baseline()), or NULL.
	 * An entry returns to its baseline as soon as that is valid again: when a link comes back,
	 * so do the paths that had to leave it.
	 */
	const struct hd_routes *baseline;
	/* Tables in place from which the engine does not start, of the same shape, or NULL. An engine may
	 * say that they were better; they never change the result. */
	const struct hd_routes *in_place;
	unsigned lanes; /* data VLs that every inter-switch link has; 0: not known, 8 by default */
	unsigned threads; /* 0 = 1; never changes the result */
	const struct hd_log *log; /* remarks; NULL = none */
	/* An engine asks from time to time. hd_engine_route() asks before and after the engine, so one that
	 * never asks is stopped as soon as it returns. */
	struct hd_go_on go_on;
};

/* What an engine does with routing keys; heddle-keyd makes their entries. */
enum hd_takes_keys {
	HD_TAKES_NO_KEYS,
	HD_TAKES_KEYS, /* each key keeps the routes that were made for it */
	HD_TAKES_SHIFTED_KEYS /* keys are shifted to switches that other keys use least */
};

struct hd_engine {
	const char *name; /* as in `routing_engine NAME` */
	const char *summary; /* half a sentence */
	const char *description; /* a few sentences for the manual: for which fabrics, and how */
	const struct hd_option *options; /* `deadlock`, `vls` and `spread` among them */
	unsigned option_count;

	/* ---- facts; the conformance tests hold the engine to them ---- */

	/* The files of the policy that the engine uses: a HD_POLICY_BIT() each. max_reverse_hops
	 * belongs to HD_POLICY_IO_NODES. hd_engine_route() logs those that are given and ignored.
	 */
	unsigned policies;
	/* Refuses a fabric that is not a fat tree. Other engines refuse only for want of lanes, or
	 * because of what the policy demands. */
	bool needs_tree;
	/* Refuses a fabric that is neither a torus nor a mesh, and one with holes around which it finds no paths that are
	 * free of credit loops on the lanes that there are. */
	bool needs_grid;
	/* Its paths need one virtual lane: they climb, then descend. Where policy.max_reverse_hops
	 * allows other steps, the engine proves that they close no credit loop, or refuses. The
	 * paths of other engines go to as many lanes as they need. */
	bool one_lane;
	/* Its function `route` runs other engines by hd_engine_route(), which does for them what it
	 * would do for this one. */
	bool delegates;
	/* Every path is a shortest one: of fewest hops, or of least cost where links have costs. */
	bool shortest_paths;
	/* After a change in the fabric, entries for a LID change only if one of them has lost its
	 * link. Other engines promise this as long as the levels of the tree stay the same. */
	bool keeps_entries;
	/* An enum hd_takes_keys. In OpenSM the entries of routing keys replace some of its entries for LIDs
	 * above base LIDs. */
	uint8_t takes_keys;
	/* From a module that was loaded (heddle/engines/engine_list.h), which sets this:
	 * hd_engine_route() then proves the tables. false in the module itself. */
	bool from_module;
	/* Its tables have service levels, by which paths are free of credit loops on the lanes that the request has.
	 * Another built-in engine may return such tables as well, by some of its options. */
	bool own_lanes;

	/*
	 * Computes tables for every LID of every host and switch. 0, or a negative errno with a
	 * reason: -ENOTSUP the fabric is not of the engine's kind (names the link or the pair of
	 * switches), -EINVAL bad policy, -ECANCELED, -ENOMEM. Between components of the fabric the entries stay
	 * HD_NO_PORT, with a remark in the log. *out is written on success only and freed with
	 * hd_routes_free().
	 */
	int (*route)(const struct hd_route_request *request, struct hd_routes **out,
		     struct hd_error *err);
};

/* The built-in engines, in the order of the documentation; *count of them. */
const struct hd_engine *const *hd_engines(unsigned *count);

/* Built-in engine by name, or NULL. */
const struct hd_engine *hd_engine_find(const char *name);

/* A name of the vendor's subnet manager in routing_engine, and the built-in engine that routes most like it. */
struct hd_engine_alias {
	const char *name, *engine;
};

/* These names; all of them ask for adaptive routing. *count of them. */
const struct hd_engine_alias *hd_engine_aliases(unsigned *count);

/* Default options of an engine. NULL: no memory. */
struct hd_options *hd_engine_options(const struct hd_engine *engine);

/* The options of OpenSM that are part of the policy, in the order of the documentation; *count of
 * them. */
const struct hd_policy_option *hd_policy_options(unsigned *count);

/*
 * Runs the engine, sees to it that its paths are free of credit loops as its option `deadlock`
 * says (hd_lanes_assign()), and writes its name and options into the result. Logs which options
 * of the policy the engine ignores. Proves the tables of a module's engine (hd_check()). Errors: the
 * engine's; -ECANCELED; -ENOSPC where the paths need more virtual lanes than are usable; -EINVAL a module's
 * tables are wrong.
 */
int hd_engine_route(const struct hd_engine *engine, const struct hd_route_request *request,
		    struct hd_routes **out, struct hd_error *err);

/*
 * What tables are worth, worth[0], beside those that the engine would make afresh, worth[1]: effective bisection
 * bandwidth, 0 .. 1, of a sample that is the same for both. The request says what the tables were made of; its
 * `previous`, `baseline` and `in_place` are not used. Errors: those of hd_engine_route(). Cost: that of a routing afresh.
 */
int hd_engine_weigh(const struct hd_engine *engine, const struct hd_route_request *request,
		    const struct hd_routes *routes, double worth[2], struct hd_error *err);

#ifdef __cplusplus
}
#endif

#endif
