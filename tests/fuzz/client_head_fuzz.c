/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as the beginning of an answer of heddle-keyd: they are understood, refused with a reason,
 * or more of them are wanted; and a part of what is understood is never refused. */
#include "../../keyd/client/client_http.h"
#include "fuzzing.h"

#include <errno.h>

/* In memory of exactly its size, so that the sanitizer sees a read behind its end. */
static char *copy(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size ? size : 1);

	demand(bytes);
	memcpy(bytes, data, size);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *whole = copy(data, size), *half = copy(data, size / 2);
	struct client_head head = {.status = 0}, early = {.status = 0};
	const char *reason = NULL;
	int rc = client_http_read_head(whole, size, &head, &reason);

	demand(!rc || rc == -EAGAIN || (rc == -EPROTO && reason));
	if (!rc) {
		demand(head.length <= size && head.body <= CLIENT_BODY_MAX);
		demand(head.status >= 100 && head.status <= 599);
		rc = client_http_read_head(half, size / 2, &early, &reason);
		demand(rc == -EAGAIN || (!rc && early.length == head.length));
	}
	free(whole);
	free(half);
	return 0;
}
