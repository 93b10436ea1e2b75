/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * auto: the one of dmodk, updown and spf whose tables have the highest effective bisection
 * bandwidth (bisections.h). All three route, and the log has the remarks of the one that is taken.
 * On a regular fat tree from which nothing is missing dmodk is known to be the best, and the others
 * do not route. spf, which knows neither roots nor I/O nodes, takes no part where the policy names
 * some, unless the others refuse. With few lanes an engine may find no paths for some aggregation
 * nodes. Then one that serves more of them is taken if it is worse by at most CONTEST_SERVE.
 *
 * A choice stays (hd_routes.chosen). With tables in place, their engine alone routes. First comes
 * the engine of the baseline if the fabric has as many links as when it was chosen, or nearly so:
 * what was out of order is back. Engines are compared again if the engine refuses, or if the number
 * of links has changed by more than AUTO_CHANGE percent and AUTO_CABLES cables
 * (hd_routes.chosen_for). Then another engine has to be better by AUTO_GAIN.
 */
#ifndef ENGINES_AUTO_H
#define ENGINES_AUTO_H

#include <heddle/engines.h>

#define AUTO_CHANGE 3u
#define AUTO_HOME 1u /* percent: nearly as many links */
#define AUTO_CABLES 2u
#define AUTO_GAIN .01
#define AUTO_LOSS .005 /* a remark says if the tables in place were better by this */

extern const struct hd_engine hd_engine_auto;

#endif
