/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engines in a list: those that are built in, then those of modules, which are shared objects in folders that an
 * administrator names. Programs make one list when they start.
 *
 * hd_engine_list_new() goes through the folders in their order, and through the files of each in the order of their
 * names. check_file() says whether this process may run the code of a file; then the dynamic linker loads it, and
 * module_facts.c makes an engine of what it says about itself. What cannot be loaded is named in the log with the
 * reason, and the rest is loaded: only a shortage of memory ends the list.
 */
#include "module_facts.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <heddle/base/place.h>
#include <heddle/engines/engine_list.h>
#include <heddle/engines/module.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Checks the file. *place is where root finds it: the code of a module runs as soon as it is loaded, so root takes only
 * what nobody else can change, from the root folder on. Thus what was checked is still there when the linker opens it.
 */
static int check_file(const char *path, struct hd_place *place, struct hd_error *err)
{
	int rc = 0;

	if (!geteuid()) {
		rc = hd_place_find(path, HD_PLACE_OWN, place, err);
		errno = ENOENT;
	} else {
		*place = (struct hd_place){.folder = -1};
		snprintf(place->path, sizeof(place->path), "%s", path);
		place->exists = !stat(path, &place->facts);
	}
	if (!rc && !place->exists)
		rc = hd_error_set(err, -errno, "%s", strerror(errno));
	else if (!rc && !S_ISREG(place->facts.st_mode))
		rc = hd_error_set(err, -EINVAL, "it is not a regular file");
	hd_place_close(place);
	return rc;
}

static int linker_error(struct hd_error *err)
{
	const char *reason = dlerror();

	return hd_error_set(err, -EINVAL, "the dynamic linker says: %s",
			    reason ? reason : "no reason");
}

/* Loads the file. *handle is for dlclose(); *module is valid until then. Errors: -EPERM others than root can change it;
 * -EINVAL the dynamic linker refuses it (says why), or it has no hd_engine_module; those of the system. */
static int module_file_open(const char *path, void **handle, const struct hd_engine_module **module,
			    struct hd_error *err)
{
	struct hd_place place;
	int rc = check_file(path, &place, err);

	if (rc)
		return rc;
	void *opened = dlopen(place.path, RTLD_NOW | RTLD_LOCAL);
	if (!opened)
		return linker_error(err);
	*module = dlsym(opened, HD_ENGINE_MODULE_SYMBOL);
	if (!*module) {
		dlclose(opened);
		return hd_error_set(err, -EINVAL,
				    "it has no symbol " HD_ENGINE_MODULE_SYMBOL
				    ", so it is not a module for Heddle");
	}
	*handle = opened;
	return 0;
}

#define MODULE_SUFFIX ".so"

struct hd_engine_list {
	struct hd_arena arena; /* the engines of modules, as programs use them */
	const struct hd_engine **engines;
	void **handles; /* [count - built_in] of the modules */
	uint32_t count, built_in, room, handle_room;
};

static int add_engine(struct hd_engine_list *list, const struct hd_engine *engine,
		      struct hd_error *err)
{
	const struct hd_engine **engines =
	    hd_grow(list->engines, list->count, 1, &list->room, sizeof(const struct hd_engine *));

	if (!engines)
		return hd_error_no_memory(err);
	list->engines = engines;
	list->engines[list->count++] = engine;
	return 0;
}

static int add_built_in(struct hd_engine_list *list, struct hd_error *err)
{
	unsigned count;
	const struct hd_engine *const *engines = hd_engines(&count);
	int rc = 0;

	for (unsigned i = 0; !rc && i < count; i++)
		rc = add_engine(list, engines[i], err);
	list->built_in = list->count;
	return rc;
}

/* Room for one more handle, before the engine is added. */
static int make_room(struct hd_engine_list *list, struct hd_error *err)
{
	void **handles = hd_grow(list->handles, list->count - list->built_in, 1, &list->handle_room,
				 sizeof(void *));

	if (!handles)
		return hd_error_no_memory(err);
	list->handles = handles;
	return 0;
}

static int check_engine(const struct hd_engine_list *list, const struct hd_engine_source *source,
			const struct hd_engine *engine, struct hd_error *err)
{
	if (hd_engine_list_find(list, engine->name))
		return hd_error_set(err, -EEXIST, "another engine has the name '%s'", engine->name);
	return source->accept ? source->accept(source->context, engine, err) : 0;
}

static int add_module(struct hd_engine_list *list, const struct hd_engine_source *source,
		      const struct hd_engine_module *module, void *handle, struct hd_error *err)
{
	const struct hd_engine *engine;
	int rc = module_facts_make(module, &list->arena, &engine, err);

	if (!rc)
		rc = make_room(list, err);
	if (!rc)
		rc = check_engine(list, source, engine, err);
	if (!rc)
		rc = add_engine(list, engine, err);
	if (!rc)
		list->handles[list->count - list->built_in - 1] = handle;
	return rc;
}

static int load_module(struct hd_engine_list *list, const struct hd_engine_source *source,
		       const char *path, struct hd_error *err)
{
	const struct hd_engine_module *module = NULL;
	void *handle = NULL;
	int rc = module_file_open(path, &handle, &module, err);

	if (rc)
		return rc;
	rc = add_module(list, source, module, handle, err);
	if (rc)
		dlclose(handle);
	else
		hd_log(source->log, HD_LOG_INFO, "engine '%s' is loaded from %s",
		       list->engines[list->count - 1]->name, path);
	return rc;
}

static int is_module(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(MODULE_SUFFIX);

	return entry->d_name[0] != '.' && length > suffix &&
	       !strcmp(entry->d_name + length - suffix, MODULE_SUFFIX);
}

/* The same order in every locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Logs the refusal of a module; only a shortage of memory is an error. */
static int load_named(struct hd_engine_list *list, const struct hd_engine_source *source,
		      const char *folder, const char *name, struct hd_error *err)
{
	struct hd_error reason;
	char *path;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return hd_error_no_memory(err);
	int rc = load_module(list, source, path, &reason);
	if (rc == -ENOMEM)
		hd_error_no_memory(err);
	else if (rc)
		hd_log(source->log, HD_LOG_ERROR, "engine module %s is not loaded: %s", path,
		       reason.text);
	free(path);
	return rc == -ENOMEM ? rc : 0;
}

static int load_folder(struct hd_engine_list *list, const struct hd_engine_source *source,
		       const char *folder, struct hd_error *err)
{
	struct dirent **entries;
	int rc = 0, count = scandir(folder, &entries, is_module, by_name);

	if (count < 0 && errno == ENOMEM)
		return hd_error_no_memory(err);
	if (count < 0) {
		hd_log(source->log, HD_LOG_ERROR, "no engine modules are loaded from %s: %s",
		       folder, strerror(errno));
		return 0;
	}
	for (int i = 0; i < count; i++) {
		if (!rc)
			rc = load_named(list, source, folder, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int load_folders(struct hd_engine_list *list, const struct hd_engine_source *source,
			struct hd_error *err)
{
	char *copy = strdup(source->path ? source->path : ""), *rest = copy, *folder;
	int rc = copy ? 0 : hd_error_no_memory(err);

	while (!rc && (folder = strsep(&rest, ":")))
		if (*folder)
			rc = load_folder(list, source, folder, err);
	free(copy);
	return rc;
}

int hd_engine_list_new(const struct hd_engine_source *source, struct hd_engine_list **out,
		       struct hd_error *err)
{
	struct hd_engine_list *list = calloc(1, sizeof(*list));
	int rc = list ? add_built_in(list, err) : hd_error_no_memory(err);

	if (!rc)
		rc = load_folders(list, source, err);
	if (rc)
		hd_engine_list_free(list);
	else
		*out = list;
	return rc;
}

void hd_engine_list_free(struct hd_engine_list *list)
{
	if (!list)
		return;
	for (uint32_t i = list->built_in; i < list->count; i++)
		dlclose(list->handles[i - list->built_in]);
	free(list->handles);
	free(list->engines);
	hd_arena_release(&list->arena);
	free(list);
}

const struct hd_engine *const *hd_engine_list_all(const struct hd_engine_list *list,
						  unsigned *count)
{
	if (!list)
		return hd_engines(count);
	*count = list->count;
	return list->engines;
}

const struct hd_engine *hd_engine_list_find(const struct hd_engine_list *list, const char *name)
{
	unsigned count;
	const struct hd_engine *const *engines = hd_engine_list_all(list, &count);

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}
