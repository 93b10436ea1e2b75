/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counters as Prometheus reads them. */
#ifndef KEYD_METRICS_H
#define KEYD_METRICS_H

#include "keyd.h"

/* A text to be freed, or NULL: no memory. With many phases those that are active are counted now and
 * then only. */
char *keyd_metrics_text(struct keyd *keyd);

#endif
