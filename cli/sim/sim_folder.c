/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sim_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENDING ".ini"

const char *sim_folder(void)
{
	const char *folder = getenv("HEDDLE_SCENARIOS");

	return folder && *folder ? folder : HEDDLE_SCENARIO_FOLDER;
}

static bool has_ending(const char *name)
{
	size_t length = strlen(name), tail = strlen(ENDING);

	return length > tail && !strcmp(name + length - tail, ENDING);
}

char *sim_folder_path(const char *text)
{
	char *path = NULL;
	struct stat status;

	if (has_ending(text) || !stat(text, &status))
		return strdup(text);
	return asprintf(&path, "%s/%s" ENDING, sim_folder(), text) < 0 ? NULL : path;
}

static bool is_folder(const char *folder, const char *name)
{
	char path[4096];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

static int ascending(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add(struct sim_folder_list *list, const char *name, size_t length)
{
	char **names = realloc(list->names, (list->count + 1u) * sizeof(*names));

	if (!names)
		return -ENOMEM;
	list->names = names;
	names[list->count] = strndup(name, length);
	return names[list->count] ? (list->count++, 0) : -ENOMEM;
}

static int read_folder(const char *folder, bool folders, struct sim_folder_list *list,
		       struct hd_error *err)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	int rc = 0;

	*list = (struct sim_folder_list){.count = 0};
	if (!stream)
		return hd_error_set(err, -errno, "%s: %s", folder, strerror(errno));
	while (!rc && (entry = readdir(stream)) != NULL) {
		const char *name = entry->d_name;
		if (*name == '.')
			continue;
		if (folders && is_folder(folder, name))
			rc = add(list, name, strlen(name));
		else if (!folders && has_ending(name))
			rc = add(list, name, strlen(name) - strlen(ENDING));
	}
	closedir(stream);
	if (list->count)
		qsort(list->names, list->count, sizeof(*list->names), ascending);
	return rc ? hd_error_no_memory(err) : 0;
}

int sim_folder_experiments(struct sim_folder_list *list, struct hd_error *err)
{
	return read_folder(sim_folder(), true, list, err);
}

int sim_folder_scenarios(const char *experiment, struct sim_folder_list *list, struct hd_error *err)
{
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s/%s", sim_folder(), experiment);
	return read_folder(folder, false, list, err);
}

void sim_folder_release(struct sim_folder_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct sim_folder_list){.count = 0};
}
