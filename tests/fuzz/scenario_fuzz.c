/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as a scenario, and as kept runs. A refused scenario has a message with its name; records
 * that are accepted are the same after they are written and read again. */
#include "fuzzing.h"

#include <heddle/sim/scenario.h>

static char *print(const struct hd_record *record, uint32_t run, size_t *length)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	demand(stream != NULL);
	hd_record_write(record, run, stream);
	fclose(stream);
	return text;
}

static void check_record(const struct hd_record *record, uint32_t run)
{
	size_t length, length_again;
	char *text = print(record, run, &length), *text_again;
	const struct hd_text again = {.bytes = text, .length = length, .name = "again"};
	struct hd_lines lines = hd_lines_of(&again);
	struct hd_record *same = NULL;
	uint32_t same_run;

	demand(hd_record_read(&lines, &same_run, &same, NULL) == 1 && same_run == run);
	text_again = print(same, same_run, &length_again);
	demand(length == length_again && !memcmp(text, text_again, length));
	hd_record_free(same);
	free(text_again);
	free(text);
}

static void read_records(const struct hd_text *text)
{
	struct hd_lines lines = hd_lines_of(text);
	struct hd_record *record;
	uint32_t run;

	while (hd_record_read(&lines, &run, &record, NULL) > 0) {
		check_record(record, run);
		hd_record_free(record);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hd_text text = {.bytes = (const char *)data, .length = size, .name = "file"};
	struct hd_scenario *scenario = NULL;
	struct hd_error err = {""};

	read_records(&text);
	if (hd_scenario_parse(&text, &scenario, &err)) {
		demand(!scenario && !strncmp(err.text, "file", 4));
		return 0;
	}
	if (hd_scenario_quicken(scenario, &err))
		demand(*err.text);
	hd_scenario_set(scenario, "traffic.rate=1", &err);
	demand(hd_scenario_set(scenario, "run.seeds=2", &err) == 0);
	hd_scenario_free(scenario);
	return 0;
}
