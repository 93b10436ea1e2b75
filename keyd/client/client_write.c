/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_write.h"

#include "client_problem.h"

#include <errno.h>

json_t *client_write_texts(const char *const *list, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(array, json_string(list[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *phase_flows(const struct hd_key_client_placement *placement, uint32_t phase)
{
	json_t *flows = json_array();

	for (uint32_t i = placement->base[phase]; i < placement->base[phase + 1]; i++) {
		const struct hd_key_client_flow *flow = &placement->flows[i];
		if (json_array_append_new(flows, json_pack("[I,I]", (json_int_t)flow->source,
							   (json_int_t)flow->destination))) {
			json_decref(flows);
			return NULL;
		}
	}
	return flows;
}

static json_t *phases(const struct hd_key_client_placement *placement)
{
	json_t *list = json_array();

	for (uint32_t phase = 0; phase < placement->phase_count; phase++)
		if (json_array_append_new(list, phase_flows(placement, phase))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

int client_write_traffic(json_t *json, const struct hd_key_client_placement *placement)
{
	int failed = json_object_set_new(
	    json, "hosts", client_write_texts(placement->hosts, placement->host_count));

	if (placement->pattern)
		failed |= json_object_set_new(json, "pattern", json_string(placement->pattern));
	else
		failed |= json_object_set_new(json, "phases", phases(placement));
	if (placement->ranks)
		failed |= json_object_set_new(json, "ranks", json_integer(placement->ranks));
	return failed;
}

int client_write_refuse(struct hd_key_client_problem *problem)
{
	struct hd_key_client_problem unused;

	return client_problem_set(problem ? problem : &unused, -EINVAL,
				  "a name of a host or pattern is not UTF-8, or memory is short");
}
