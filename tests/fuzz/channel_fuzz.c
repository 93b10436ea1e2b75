/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as a stream of the key channel: each message that is taken has the same bytes when it is
 * written again. */
#include "fuzzing.h"

#include <heddle/keyd/channel.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (;;) {
		struct hd_channel_message message;
		struct hd_error err = {""};
		size_t used, length;
		uint8_t *again;
		int rc = hd_channel_decode(data, size, &message, &used, &err);

		demand(!rc == !err.text[0]);
		if (rc || !used)
			return 0;
		demand(used <= size);
		demand(!hd_channel_encode(&message, &again, &length));
		demand(length == used && !memcmp(again, data, used));
		free(again);
		hd_channel_release(&message);
		data += used;
		size -= used;
	}
}
