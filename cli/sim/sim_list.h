/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a scenario may say. */
#ifndef CLI_SIM_LIST_H
#define CLI_SIM_LIST_H

#include <stdbool.h>

/* Print sections and their keys, or kinds of traffic and their options. The exit status. */
int sim_list_keys(bool json);
int sim_list_kinds(bool json);

#endif
