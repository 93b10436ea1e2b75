/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_service.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>

int key_service_open(const struct key_service *service, struct hd_key_client **out)
{
	struct hd_key_client_problem problem;
	const char *address = service->socket ? service->socket : service->host;

	if (service->socket && service->host)
		return message_error("--socket and --host exclude each other");
	if (service->socket && *service->socket != '/')
		return message_error("--socket '%s': expected a path that begins with '/'",
				     service->socket);
	if (service->host && *service->host == '/')
		return message_error("--host '%s': expected HOST:PORT", service->host);
	if (hd_key_client_new(address,
			      service->timeout_ms ? service->timeout_ms : KEY_SERVICE_TIMEOUT_MS,
			      out, &problem))
		return key_service_fail(&problem);
	return 0;
}

int key_service_job(const char **job)
{
	if (!*job)
		*job = getenv("HEDDLE_JOB");
	if (!*job)
		*job = getenv("SLURM_JOB_ID");
	if (!*job)
		return message_error("no job given: use --job ID");
	return 0;
}

int key_service_fail(const struct hd_key_client_problem *problem)
{
	if (problem->status && problem->retry_after)
		return message_error("heddle-keyd: %s (status %d; try again in %u s)",
				     problem->detail, problem->status, problem->retry_after);
	if (problem->status)
		return message_error("heddle-keyd: %s (status %d)", problem->detail,
				     problem->status);
	return message_error("%s", problem->detail);
}
