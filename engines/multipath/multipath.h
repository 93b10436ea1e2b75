/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * multipath: several paths to a host, one for each of its LIDs. Where the fabric has few cycles
 * the low bits of a LID say for each cycle which way round the packet goes, so that all ways
 * through an irregular network can be named; elsewhere every further LID gets shortest paths
 * that share as few links as can be with those of the lower ones. Not free of deadlock by
 * itself. Source: Kim, Yum, Das et al., design alternatives for IBA fabrics, sections 3.2 and
 * 3.3.
 */
#ifndef ENGINES_MULTIPATH_H
#define ENGINES_MULTIPATH_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_multipath;

#endif
