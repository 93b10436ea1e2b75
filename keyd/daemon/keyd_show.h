/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls that only show something. */
#ifndef KEYD_SHOW_H
#define KEYD_SHOW_H

#include "keyd_call.h"

void keyd_show_jobs(struct keyd_call *call);
void keyd_show_job(struct keyd_call *call);
void keyd_show_links(struct keyd_call *call);
void keyd_show_fabric(struct keyd_call *call);
void keyd_show_health(struct keyd_call *call);
void keyd_show_metrics(struct keyd_call *call);

#endif
