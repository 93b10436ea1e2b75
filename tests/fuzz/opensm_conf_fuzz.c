/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as opensm.conf. */
#include "fuzzing.h"

#include <heddle/config/opensm_conf.h>
#include <string.h>

/* Each line has a name without blanks; lines ascend; the last one of a name is found. A refusal names a line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hd_text text = {.bytes = (const char *)data, .length = size, .name = "conf"};
	struct hd_opensm_conf *conf = NULL;
	struct hd_error err = {""};
	unsigned count, before = 0;

	if (hd_opensm_conf_parse(&text, &conf, &err)) {
		demand(!conf && !strncmp(err.text, "conf:", 5));
		return 0;
	}
	const struct hd_opensm_line *lines = hd_opensm_conf_lines(conf, &count);
	for (unsigned i = 0; i < count; i++) {
		demand(*lines[i].name && !strpbrk(lines[i].name, " \t\r\n#"));
		demand(!strchr(lines[i].value, '#') && strcmp(lines[i].value, "(null)") != 0);
		demand(lines[i].number > before);
		demand(hd_opensm_conf_find(conf, lines[i].name)->number >= lines[i].number);
		before = lines[i].number;
	}
	hd_opensm_conf_free(conf);
	return 0;
}
