/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as heddle.conf, for a program that knows sections of all kinds. */
#include "fuzzing.h"

#include <heddle/config.h>
#include <inttypes.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct hd_option options[] = {
    {.name = "passes", .type = HD_OPTION_INT, .fallback = "3", .minimum = 1, .maximum = 16},
    {.name = "root", .type = HD_OPTION_STRING, .fallback = "auto"},
    {.name = "enable", .type = HD_OPTION_BOOL, .fallback = "no"},
};

static const struct hd_option required[] = {
    {.name = "mode", .type = HD_OPTION_CHOICE, .choices = "lag|tree"},
};

static const struct hd_config_section known[] = {
    {.name = "spf", .options = options, .option_count = COUNT(options)},
    {.name = "ar", .options = options, .option_count = COUNT(options)},
    {.name = "ar.switch",
     .kind = HD_CONFIG_BY_GUID,
     .options = required,
     .option_count = COUNT(required)},
    {.name = "keyd", .kind = HD_CONFIG_OTHER_PROGRAM},
};

static const struct hd_config_sections *sections(void)
{
	static struct hd_config_sections *all;

	if (all)
		return all;
	all = hd_config_sections_new();
	demand(all != NULL);
	for (size_t i = 0; i < COUNT(known); i++)
		demand(hd_config_sections_add(all, &known[i], NULL) == 0);
	return all;
}

static int parse(const char *bytes, size_t size, struct hd_config **config, struct hd_error *err)
{
	struct hd_text text = {.bytes = bytes, .length = size, .name = "conf"};

	return hd_config_parse(sections(), &text, config, err);
}

/* Writes the values as a file of the simplest form. */
static void write_values(FILE *stream, const struct hd_config *config)
{
	for (size_t i = 0; i < COUNT(known); i++) {
		struct hd_config_object object;

		for (unsigned at = 0; hd_config_object_at(config, known[i].name, at, &object);
		     at++) {
			demand((object.guid != 0) == (known[i].kind == HD_CONFIG_BY_GUID));
			fprintf(stream, object.guid ? "[%s %" PRIx64 "]\n" : "[%s]\n",
				known[i].name, object.guid);
			for (unsigned j = 0; j < known[i].option_count; j++) {
				const char *key = known[i].options[j].name;
				const struct hd_option_value *value =
				    hd_options_get(object.options, key);

				if (value->given)
					fprintf(stream, "%s=%s\n", key, value->text);
			}
		}
	}
}

static char *print(const struct hd_config *config, size_t *size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	demand(stream != NULL);
	write_values(stream, config);
	fclose(stream);
	return text;
}

/* True if the reader would read a value in the simple file differently. */
static bool is_ambiguous(const struct hd_config *config)
{
	static const char *const names[] = {"spf", "ar"};

	for (size_t i = 0; i < COUNT(names); i++) {
		const char *root =
		    hd_options_get(hd_config_options(config, names[i]), "root")->text;

		if (*root == ';' || strlen(root) + 5 > HD_CONFIG_LINE_LONGEST)
			return true;
	}
	return false;
}

/* A refusal names a line. An accepted file has the same values after it is written and read again.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hd_config *config = NULL, *again = NULL;
	struct hd_error err = {""};
	size_t length, length_again;
	char *text, *text_again;

	if (parse((const char *)data, size, &config, &err)) {
		demand(!config && !strncmp(err.text, "conf:", 5));
		return 0;
	}
	if (!is_ambiguous(config)) {
		text = print(config, &length);
		demand(parse(text, length, &again, &err) == 0);
		text_again = print(again, &length_again);
		demand(length == length_again && !memcmp(text, text_again, length));
		free(text);
		free(text_again);
		hd_config_free(again);
	}
	hd_config_free(config);
	return 0;
}
