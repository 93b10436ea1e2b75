/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which parts of a policy an administrator has set, and which of them an engine ignores. */
#ifndef ENGINES_POLICY_PARTS_H
#define ENGINES_POLICY_PARTS_H

#include <heddle/engines.h>

/* One line in the request's log for each part of its policy that is set and that the engine ignores. */
void policy_parts_remark(const struct hd_engine *engine, const struct hd_route_request *request);

#endif
