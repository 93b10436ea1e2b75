/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the scenarios that come with heddle are. */
#ifndef CLI_SIM_FOLDER_H
#define CLI_SIM_FOLDER_H

#include <heddle/base/error.h>
#include <stdint.h>

/* The folder: $HEDDLE_SCENARIOS, or that of the installation (shipped_path()). For one thread. */
const char *sim_folder(void);

/* The path of a scenario, to be freed: the text if that ends in ".ini" or is there; else NAME.ini in
 * the folder. Errors: -ENOENT neither is there, -ENOMEM. */
int sim_folder_find(const char *text, char **path, struct hd_error *err);

struct sim_folder_list {
	char **names; /* [count] ascending */
	uint32_t count;
};

/* Names of the experiments (folders in the folder), or of the scenarios of an experiment, without
 * ".ini". Errors: -ENOENT no such experiment, or no folder; the errno of opendir(); -ENOMEM. */
int sim_folder_experiments(struct sim_folder_list *list, struct hd_error *err);
int sim_folder_scenarios(const char *experiment, struct sim_folder_list *list,
			 struct hd_error *err);
void sim_folder_release(struct sim_folder_list *list);

#endif
