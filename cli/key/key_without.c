/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_without.h"
#include "json_value.h"

#include <inttypes.h>
#include <stdio.h>

void key_without_print(const struct hd_key_client_withouts *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		printf("job %s: %" PRIu32 " flows have no key: %s\n", jobs->jobs[i].job,
		       jobs->jobs[i].flows, jobs->jobs[i].reason);
}

json_t *key_without_json(const struct hd_key_client_withouts *jobs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < jobs->count; i++)
		list = json_value_append(
		    list, json_pack("{s:o, s:I, s:o}", "job", json_value_text(jobs->jobs[i].job),
				    "flows", (json_int_t)jobs->jobs[i].flows, "reason",
				    json_value_text(jobs->jobs[i].reason)));
	return list;
}
