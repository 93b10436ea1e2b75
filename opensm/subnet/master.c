/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "master.h"
#include "opensm_headers.h"

bool master_is_ours(const struct osm_opensm *osm)
{
	return __atomic_load_n(&osm->subn.sm_state, __ATOMIC_RELAXED) == IB_SMINFO_STATE_MASTER;
}
