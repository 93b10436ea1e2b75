/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All engines of this tree. What each does stands at the top of its file. */
#ifndef ENGINES_ALL_ENGINES_H
#define ENGINES_ALL_ENGINES_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_ark;
extern const struct hd_engine hd_engine_auto;
extern const struct hd_engine hd_engine_dfp;
extern const struct hd_engine hd_engine_dmodk;
extern const struct hd_engine hd_engine_isfr;
extern const struct hd_engine hd_engine_issr;
extern const struct hd_engine hd_engine_multipath;
extern const struct hd_engine hd_engine_nrk;
extern const struct hd_engine hd_engine_rings;
extern const struct hd_engine hd_engine_spf;
extern const struct hd_engine hd_engine_turns;
extern const struct hd_engine hd_engine_updown;

#endif
