/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A routing engine outside this tree: a shared object of its own, which the command `heddle` and the
 * OpenSM plugin load. doc/guide/own-engine.md shows how to write, build and load one. In one of its
 * files the module has
 *
 *	static const struct hd_engine engine = {.name = "rotate", ..., .route = route};
 *
 *	HD_ENGINE_MODULE(&engine)
 *
 * The module links libheddle-core.a, and so has its own copy of the functions that it calls. What it
 * shares with the program that loads it is the layout of a few structs. HD_ENGINE_ABI is the number
 * of that layout: it changes whenever one of these structs changes, and a module is loaded only if
 * it was built for the same number. After that, build the module again with the new libheddle-dev.
 */
#ifndef HEDDLE_ENGINES_MODULE_H
#define HEDDLE_ENGINES_MODULE_H

#include <heddle/engines.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_ENGINE_ABI 4

#define HD_ENGINE_MODULE_SYMBOL "hd_engine_module"

/* How many bytes the structs have that a module shares with its host. They show it if a struct has
 * changed and HD_ENGINE_ABI has not. */
#define HD_ENGINE_SIZES 9
#define HD_ENGINE_SIZES_OF                                                                         \
	{                                                                                          \
		sizeof(struct hd_engine), sizeof(struct hd_option),                                \
		    sizeof(struct hd_option_value), sizeof(struct hd_route_request),               \
		    sizeof(struct hd_fabric), sizeof(struct hd_routes), sizeof(struct hd_policy),  \
		    sizeof(struct hd_error), sizeof(struct hd_log)                                 \
	}

struct hd_engine_module {
	uint32_t abi; /* HD_ENGINE_ABI; the first member in every version */
	uint32_t sizes[HD_ENGINE_SIZES]; /* HD_ENGINE_SIZES_OF */
	const struct hd_engine *engine;
};

#if defined(__GNUC__)
#define HD_ENGINE_MODULE_EXPORT __attribute__((visibility("default")))
#else
#define HD_ENGINE_MODULE_EXPORT
#endif

/* What a host looks for in a module. */
extern HD_ENGINE_MODULE_EXPORT const struct hd_engine_module hd_engine_module;

/*
 * Defines it, for an engine that is a constant of the module. Of the engine's facts, a module may
 * not set `delegates` and `from_module`. The options `deadlock`, `vls` and `spread` are added when
 * the module is loaded. `name` has at most HD_ENGINE_NAME_LONGEST small letters, digits and '_',
 * begins with a letter, and does not begin with ar_. All texts are in ASCII, and each option has a
 * fallback.
 */
#define HD_ENGINE_MODULE(engine_)                                                                  \
	const struct hd_engine_module hd_engine_module = {HD_ENGINE_ABI, HD_ENGINE_SIZES_OF,       \
							  engine_};

#define HD_ENGINE_NAME_LONGEST 27

#ifdef __cplusplus
}
#endif

#endif
