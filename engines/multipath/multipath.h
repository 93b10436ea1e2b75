/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * multipath: several paths to a host, one for each of its LIDs. In a fabric with few cycles the low
 * bits of a LID say for each cycle in which direction the packet passes it, so that each path
 * through an irregular network has a LID. In other fabrics every further LID gets shortest paths
 * that share as few links as possible with those of the lower LIDs. Not free of deadlock by itself.
 * Source: Kim, Yum, Das et al., design alternatives for IBA fabrics, sections 3.2 and 3.3.
 */
#ifndef ENGINES_MULTIPATH_H
#define ENGINES_MULTIPATH_H

#include <heddle/engines.h>

extern const struct hd_engine hd_engine_multipath;

#endif
