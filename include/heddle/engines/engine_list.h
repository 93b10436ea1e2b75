/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engines of a program: those that are built in, and those of modules outside this tree, which
 * are loaded once. A list never changes after it is made, so any thread may read it.
 */
#ifndef HEDDLE_ENGINES_ENGINE_LIST_H
#define HEDDLE_ENGINES_ENGINE_LIST_H

#include <heddle/engines.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_engine_list;

struct hd_engine_source {
	/* Folders, separated by colons; each *.so in them is a module. NULL or "": none. */
	const char *path;
	/* An error for each folder that cannot be read and each module that is refused, with the
	 * reason; a remark (info) for each that is loaded. NULL = none. */
	const struct hd_log *log;
	/* The program's own conditions for an engine; 0, or a negative errno with a reason. May be
	 * NULL. */
	int (*accept)(void *context, const struct hd_engine *engine, struct hd_error *err);
	void *context;
};

/*
 * Loads the modules, folder by folder, and in a folder by name. A module is refused if the dynamic
 * linker cannot load it, if it has no hd_engine_module (heddle/engines/module.h) or one of another
 * ABI, if its facts or options are not valid, or if another engine has its name. If the program runs
 * as root, a module is also refused if someone else could have changed it: its file and all folders
 * above it must belong to root, and only root may write to them. A refused module is only logged,
 * and the others are loaded. *out is freed with hd_engine_list_free(). Errors: -ENOMEM.
 */
int hd_engine_list_new(const struct hd_engine_source *source, struct hd_engine_list **out,
		       struct hd_error *err);

/* Unloads the modules; no engine of theirs may be in use. NULL is allowed. */
void hd_engine_list_free(struct hd_engine_list *list);

/* All engines, the built-in ones first; *count of them. NULL: only the built-in ones. */
const struct hd_engine *const *hd_engine_list_all(const struct hd_engine_list *list,
						  unsigned *count);

/* Engine by name, or NULL. `list` NULL: only the built-in ones. */
const struct hd_engine *hd_engine_list_find(const struct hd_engine_list *list, const char *name);

#ifdef __cplusplus
}
#endif

#endif
