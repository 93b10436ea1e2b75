/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "client_munge.h"

#include "client_problem.h"
#include "client_sha256.h"

#include <errno.h>
#include <string.h>

#ifdef HEDDLE_MUNGE
#include <munge.h>

bool client_munge_available(void)
{
	return true;
}

static void digest(const char *method, const char *path, const char *body, size_t length,
		   char text[65])
{
	struct client_sha256 sha;

	client_sha256_begin(&sha);
	client_sha256_add(&sha, method, strlen(method));
	client_sha256_add(&sha, " ", 1);
	client_sha256_add(&sha, path, strlen(path));
	client_sha256_add(&sha, "\n", 1);
	client_sha256_add(&sha, body, length);
	client_sha256_end(&sha, text);
}

int client_munge_encode(const char *socket, const char *method, const char *path, const char *body,
			size_t length, char **credential, struct hd_key_client_problem *problem)
{
	munge_ctx_t context = munge_ctx_create();
	char text[65], *made = NULL;
	munge_err_t failed;
	int rc = 0;

	if (!context)
		return client_problem_memory(problem);
	digest(method, path, body, length, text);
	if (socket)
		munge_ctx_set(context, MUNGE_OPT_SOCKET, socket);
	failed = munge_encode(&made, context, text, (int)strlen(text));
	if (failed == EMUNGE_SUCCESS)
		*credential = made;
	else
		rc = client_problem_set(problem, -EACCES,
					"MUNGE gives no credential for heddle-keyd: %s; is munged "
					"running?",
					munge_ctx_strerror(context) ? munge_ctx_strerror(context)
								    : munge_strerror(failed));
	munge_ctx_destroy(context);
	return rc;
}

#else

bool client_munge_available(void)
{
	return false;
}

int client_munge_encode(const char *socket, const char *method, const char *path, const char *body,
			size_t length, char **credential, struct hd_key_client_problem *problem)
{
	(void)socket, (void)method, (void)path, (void)body, (void)length, (void)credential;
	return client_problem_set(problem, -ENOTSUP,
				  "this library is built without MUNGE, which heddle-keyd wants "
				  "over the network");
}

#endif
