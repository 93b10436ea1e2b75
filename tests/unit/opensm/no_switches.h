/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An OpenSM that has no switches and does not end: for tests of what never looks at OpenSM's tables. Include in one file of
 * a program. */
#ifndef NO_SWITCHES_H
#define NO_SWITCHES_H

#include "opensm_headers.h"

volatile unsigned int osm_exit_flag;

osm_switch_t *osm_get_switch_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	(void)subn;
	(void)guid;
	return NULL;
}

void osm_sm_signal(osm_sm_t *sm, osm_signal_t signal)
{
	(void)sm;
	(void)signal;
}

#endif
