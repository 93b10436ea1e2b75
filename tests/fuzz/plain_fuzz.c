/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes any bytes plain: nothing harmful is left, and nothing is lost. The first byte says in pieces of which
 * length a stream gets the text. */
#include "fuzzing.h"
#include "plain_testing.h"

static void check(bool holds)
{
	demand(holds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = size ? malloc(size) : NULL;

	if (!text)
		return 0;
	for (size_t i = 1; i < size; i++) {
		const char byte = (char)data[i];
		text[i - 1] = !byte || byte == '\\' || byte == '\t' ? '/' : byte;
	}
	text[size - 1] = '\0';
	plain_testing_check(text, 1 + data[0] % 8u, check);
	free(text);
	return 0;
}
