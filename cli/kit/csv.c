/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "csv.h"
#include "message.h"

#include <heddle/base/plain.h>
#include <inttypes.h>
#include <string.h>

struct csv csv_begin(FILE *stream, const char *columns)
{
	fprintf(stream, "%s\n", columns);
	return (struct csv){.stream = stream};
}

static void separate(struct csv *csv)
{
	if (csv->begun)
		fputc(',', csv->stream);
	csv->begun = true;
}

void csv_text(struct csv *csv, const char *text)
{
	const char *mark = *text && strchr("=+-@\t", *text) && strcmp(text, "-") != 0 ? "'" : "";

	separate(csv);
	if (!strpbrk(text, ",\"")) {
		fputs(mark, csv->stream);
		hd_plain_print(text, csv->stream);
		return;
	}
	fprintf(csv->stream, "\"%s", mark);
	for (const char *end = text + strlen(text); text < end;) {
		char piece[HD_PLAIN_PIECE];
		hd_plain_next(&text, end, piece);
		fprintf(csv->stream, "%s%s", *piece == '"' ? "\"" : "", piece);
	}
	fputc('"', csv->stream);
}

void csv_number(struct csv *csv, uint64_t number)
{
	separate(csv);
	fprintf(csv->stream, "%" PRIu64, number);
}

void csv_real(struct csv *csv, double number)
{
	separate(csv);
	fprintf(csv->stream, "%.10g", number);
}

void csv_guid(struct csv *csv, uint64_t guid)
{
	separate(csv);
	fprintf(csv->stream, "0x%016" PRIx64, guid);
}

void csv_empty(struct csv *csv)
{
	separate(csv);
}

void csv_end_row(struct csv *csv)
{
	fputc('\n', csv->stream);
	csv->begun = false;
}

int csv_refuse(bool csv, bool json)
{
	return csv && json ? message_error("options '--csv' and '--json' cannot be used together")
			   : 0;
}
