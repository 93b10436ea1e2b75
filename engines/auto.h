/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * auto: dmodk where the fabric is a tree, else updown or spf, whichever has the smaller largest
 * link load by load_estimate_paths(). If spf needs more virtual lanes than there are, updown
 * routes. A choice between updown and spf stays as long as their tables are in place
 * (hd_routes.chosen): a cable that comes and goes does not change the engine, and the estimates are
 * made only when there is no such choice. The engine that is chosen keeps what it can of tables in
 * place, whichever engine made them.
 */
#ifndef ENGINES_AUTO_H
#define ENGINES_AUTO_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_auto;

#endif
