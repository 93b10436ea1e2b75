/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads heddle.conf line by line. inih splits a line into key, value and comment. We pass it single
 * lines: given a complete file, inih does not report sections without keys, ignores text after a
 * ']', cuts long names, and appends an indented line to the value before.
 */
#include <assert.h>
#include <errno.h>
#include <heddle/base/grow.h>
#include <heddle/base/suggest.h>
#include <heddle/config.h>
#include <ini.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

/* The content of hd_config_sections, for the reader and the values. */

struct hd_config_sections {
	struct hd_config_section *items; /* in the order of registration */
	uint32_t count, room;
	bool ignore_others;
};

#define HEAD_SIZE 96

struct hd_config_sections *hd_config_sections_new(void)
{
	return calloc(1, sizeof(struct hd_config_sections));
}

void hd_config_sections_free(struct hd_config_sections *sections)
{
	if (!sections)
		return;
	free(sections->items);
	free(sections);
}

static unsigned find_name(const struct hd_config_sections *sections, const char *name)
{
	unsigned i = 0;

	while (i < sections->count && strcmp(sections->items[i].name, name))
		i++;
	return i;
}

/* Whether a name begins as one of the program's own sections does, up to the dot: "ar.swich". */
static bool has_own_beginning(const struct hd_config_sections *sections, const char *name)
{
	size_t length = strcspn(name, ".");

	for (unsigned i = 0; i < sections->count; i++) {
		const struct hd_config_section *own = &sections->items[i];

		if (own->kind != HD_CONFIG_OTHER_PROGRAM && strcspn(own->name, ".") == length &&
		    !strncmp(own->name, name, length))
			return true;
	}
	return false;
}

/* The index of a section; sections->count if no section has that name. Cost: O(sections). */
static unsigned config_sections_find(const struct hd_config_sections *sections, const char *name)
{
	unsigned found = find_name(sections, name);

	if (found < sections->count || !*name || has_own_beginning(sections, name))
		return found;
	return find_name(sections, HD_CONFIG_ANY_OTHER);
}

static int make_room(struct hd_config_sections *sections, struct hd_error *err)
{
	struct hd_config_section *items =
	    hd_grow(sections->items, sections->count, 1, &sections->room, sizeof(*items));

	if (!items)
		return hd_error_no_memory(err);
	sections->items = items;
	return 0;
}

int hd_config_sections_add(struct hd_config_sections *sections,
			   const struct hd_config_section *section, struct hd_error *err)
{
	int rc;

	if (find_name(sections, section->name) < sections->count)
		return hd_error_set(err, -EEXIST, "two sections of heddle.conf have the name [%s]",
				    section->name);
	rc = make_room(sections, err);
	if (!rc)
		sections->items[sections->count++] = *section;
	return rc;
}

void hd_config_sections_ignore_others(struct hd_config_sections *sections)
{
	sections->ignore_others = true;
}

/* Whether a section that is not registered is to be ignored. */
static bool config_sections_ignores(const struct hd_config_sections *sections, const char *name)
{
	const size_t family = strcspn(name, ".");

	if (!sections->ignore_others)
		return false;
	for (unsigned i = 0; i < sections->count; i++)
		if (strlen(sections->items[i].name) == family &&
		    !strncmp(sections->items[i].name, name, family))
			return false;
	return true;
}

/* Prints the head of a section, "[spf]" or "[ar.switch GUID]", in at most `size` bytes, always
 * terminated. Returns buffer. */
static const char *config_sections_print(const struct hd_config_section *section, char *buffer,
					 size_t size)
{
	snprintf(buffer, size, section->kind == HD_CONFIG_BY_GUID ? "[%s GUID]" : "[%s]",
		 section->name);
	return buffer;
}

#define ELLIPSIS " ..."

/* Ends with "..." if not all sections have room. */
static void print_all(const struct hd_config_sections *sections, char *buffer, size_t size)
{
	char head[HEAD_SIZE];

	*buffer = '\0';
	for (unsigned i = 0; i < sections->count; i++) {
		const size_t used = strlen(buffer);

		config_sections_print(&sections->items[i], head, sizeof(head));
		if (used + strlen(head) + sizeof(" " ELLIPSIS) > size - 1) {
			snprintf(buffer + used, size - used, "%s", ELLIPSIS);
			return;
		}
		snprintf(buffer + used, size - used, "%s%s", i ? " " : "", head);
	}
}

static const struct hd_config_section *nearest(const struct hd_config_sections *sections,
					       const char *name)
{
	struct hd_suggestion suggestion = hd_suggestion_for(name);

	for (unsigned i = 0; i < sections->count; i++)
		hd_suggestion_offer(&suggestion, sections->items[i].name);
	return suggestion.nearest
		   ? &sections->items[config_sections_find(sections, suggestion.nearest)]
		   : NULL;
}

/*
 * Sets the error "unknown section [NAME]; did you mean [NEAREST]?". If no name is near, it lists
 * all sections instead. An empty name means a key before the first section. Returns -ENOENT.
 */
static int config_sections_unknown(const struct hd_config_sections *sections, const char *name,
				   struct hd_error *err)
{
	char known[HD_ERROR_TEXT / 2], head[HEAD_SIZE];
	const struct hd_config_section *near = nearest(sections, name);

	if (near)
		return hd_error_set(err, -ENOENT, "unknown section [%s]; did you mean %s?", name,
				    config_sections_print(near, head, sizeof(head)));
	print_all(sections, known, sizeof(known));
	if (*name)
		return hd_error_set(err, -ENOENT, "unknown section [%s]; the sections are %s", name,
				    known);
	return hd_error_set(err, -ENOENT, "key before the first section; the sections are %s",
			    known);
}

/* ---- values ---- */

/* Values while the reader fills them. */

/* The values of one section of the file, [name] or [name GUID]. */
struct config_values_object {
	uint64_t guid; /* 0 in [name] */
	unsigned line; /* line of its head; 0 = not in the file */
	struct hd_options *options;
	unsigned *option_lines; /* line of each option of the section; 0 = not given */
};

static const char *config_values_print_head(const struct hd_config_section *section,
					    const struct config_values_object *object, char *buffer,
					    size_t size);

#define HEAD_SIZE 96

/* The values of all sections of one name. */
struct values {
	struct config_values_object *objects;
	uint32_t count, room;
};

struct hd_config {
	const struct hd_config_sections *sections;
	struct values *values; /* one for each section */
	unsigned count;
};

static void free_object(struct config_values_object *object)
{
	hd_options_free(object->options);
	free(object->option_lines);
}

static int add_object(const struct hd_config_section *section, struct values *values, uint64_t guid,
		      struct hd_error *err)
{
	struct config_values_object object = {.guid = guid};
	struct config_values_object *objects =
	    hd_grow(values->objects, values->count, 1, &values->room, sizeof(*objects));

	if (!objects)
		return hd_error_no_memory(err);
	values->objects = objects;
	object.options = hd_options_new(section->options, section->option_count);
	object.option_lines = calloc(section->option_count + 1u, sizeof(*object.option_lines));
	if (!object.options || !object.option_lines) {
		free_object(&object);
		return hd_error_no_memory(err);
	}
	values->objects[values->count++] = object;
	return 0;
}

int hd_config_defaults(const struct hd_config_sections *sections, struct hd_config **out,
		       struct hd_error *err)
{
	struct hd_config *config = calloc(1, sizeof(*config));
	int rc = 0;

	if (!config)
		return hd_error_no_memory(err);
	config->sections = sections;
	config->count = sections->count;
	config->values = calloc(sections->count + 1u, sizeof(*config->values));
	if (!config->values)
		rc = hd_error_no_memory(err);
	for (unsigned i = 0; !rc && i < config->count; i++)
		if (sections->items[i].kind == HD_CONFIG_ONE)
			rc = add_object(&sections->items[i], &config->values[i], 0, err);
	if (rc)
		hd_config_free(config);
	else
		*out = config;
	return rc;
}

void hd_config_free(struct hd_config *config)
{
	if (!config)
		return;
	for (unsigned i = 0; config->values && i < config->count; i++) {
		for (unsigned j = 0; j < config->values[i].count; j++)
			free_object(&config->values[i].objects[j]);
		free(config->values[i].objects);
	}
	free(config->values);
	free(config);
}

static struct config_values_object *find_object(const struct values *values, uint64_t guid)
{
	for (unsigned i = 0; i < values->count; i++)
		if (values->objects[i].guid == guid)
			return &values->objects[i];
	return NULL;
}

/*
 * Finds the object of a section of the kind HD_CONFIG_ONE (guid 0) or HD_CONFIG_BY_GUID, or makes
 * it. `line` is the line of the head. *out is valid until the next call. Errors: -ENOMEM.
 */
static int config_values_enter(struct hd_config *config, unsigned section, uint64_t guid,
			       unsigned line, struct config_values_object **out,
			       struct hd_error *err)
{
	struct values *values = &config->values[section];
	struct config_values_object *object = find_object(values, guid);

	if (!object) {
		int rc = add_object(&config->sections->items[section], values, guid, err);

		if (rc)
			return rc;
		object = &values->objects[values->count - 1];
	}
	if (!object->line)
		object->line = line;
	*out = object;
	return 0;
}

static unsigned find_key(const struct hd_config_section *section, const char *key)
{
	unsigned i = 0;

	while (i < section->option_count && strcmp(section->options[i].name, key))
		i++;
	return i;
}

/* Sets an option. Errors: as hd_options_set(); -EINVAL the option was set before. */
static int config_values_set(const struct hd_config_section *section,
			     struct config_values_object *object, const char *key, const char *text,
			     unsigned line, struct hd_error *err)
{
	unsigned i = find_key(section, key);
	int rc;

	if (i < section->option_count && object->option_lines[i])
		return hd_error_set(err, -EINVAL, "option '%s' is given twice, first in line %u",
				    key, object->option_lines[i]);
	rc = hd_options_set(object->options, key, text, err);
	if (!rc)
		object->option_lines[i] = line;
	return rc;
}

static int check_object(const struct hd_config_section *section,
			const struct config_values_object *object, unsigned *line,
			struct hd_error *err)
{
	const char *key = NULL;
	unsigned at;
	int rc = hd_options_complete(object->options, err);

	if (!rc && section->check)
		rc = section->check(object->options, &key, err);
	if (!rc)
		return 0;
	at = key ? find_key(section, key) : section->option_count;
	*line = at < section->option_count && object->option_lines[at] ? object->option_lines[at]
								       : object->line;
	return rc;
}

/*
 * Checks a section of the file: its required options, and its own check. Errors: -EINVAL, and those of the check; then
 * *line is the line with the error.
 */
static int config_values_check(const struct hd_config_section *section,
			       const struct config_values_object *object, unsigned *line,
			       struct hd_error *err)
{
	char head[HEAD_SIZE];
	int rc = object->line ? check_object(section, object, line, err) : 0;

	return rc ? hd_error_prefix(err, rc, "%s",
				    config_values_print_head(section, object, head, sizeof(head)))
		  : 0;
}

/* Prints "[spf]" or "[ar.switch 0x0002c90300001234]", always terminated. Returns buffer. */
static const char *config_values_print_head(const struct hd_config_section *section,
					    const struct config_values_object *object, char *buffer,
					    size_t size)
{
	if (object->guid)
		snprintf(buffer, size, "[%s 0x%016" PRIx64 "]", section->name, object->guid);
	else
		snprintf(buffer, size, "[%s]", section->name);
	return buffer;
}

/* The values of a registered section. NULL if no section has that name. */
static const struct values *values_of(const struct hd_config *config, const char *name)
{
	unsigned section = config_sections_find(config->sections, name);

	assert(config->count == config->sections->count);
	return section < config->count ? &config->values[section] : NULL;
}

const struct hd_options *hd_config_options(const struct hd_config *config, const char *name)
{
	return hd_config_object(config, name, 0);
}

unsigned hd_config_option_line(const struct hd_config *config, const char *name, const char *key)
{
	const struct values *values = values_of(config, name);
	const struct config_values_object *object = values ? find_object(values, 0) : NULL;

	if (!object)
		return 0;
	const struct hd_config_section *section =
	    &config->sections->items[config_sections_find(config->sections, name)];
	const unsigned at = find_key(section, key);
	return at < section->option_count ? object->option_lines[at] : 0;
}

bool hd_config_object_at(const struct hd_config *config, const char *name, unsigned index,
			 struct hd_config_object *out)
{
	const struct values *values = values_of(config, name);
	const struct config_values_object *object;

	if (!values || index >= values->count)
		return false;
	object = &values->objects[index];
	*out = (struct hd_config_object){object->guid, object->options, object->line};
	return true;
}

const struct hd_options *hd_config_object(const struct hd_config *config, const char *name,
					  uint64_t guid)
{
	const struct values *values = values_of(config, name);
	const struct config_values_object *object = values ? find_object(values, guid) : NULL;

	return object ? object->options : NULL;
}

/* ---- the reader ---- */

#define HEAD_SIZE 96
#define COMMENTS "#;"

/* One reading of one file. */
struct reading {
	const struct hd_config_sections *sections;
	struct hd_config *config;
	struct hd_lines lines;
	const struct hd_config_section *section; /* the section of the line; NULL = none yet */
	struct config_values_object *object; /* NULL = in a section of another program */
	int rc; /* of the line */
	struct hd_error *err;
	/* Takes each fault; NULL: the first fault ends the reading. */
	hd_config_fault_fn *fault;
	void *context;
};

/* A section whose keys are ignored. */
static const struct hd_config_section ignored = {.kind = HD_CONFIG_OTHER_PROGRAM};

static int bad_form(struct hd_error *err)
{
	return hd_error_set(err, -EINVAL, "expected [section], key = value or # comment");
}

/* True if the rest of a line is neither empty nor a comment. */
static bool says_something(const struct hd_cursor *line)
{
	return !hd_cursor_done(line) && !strchr(COMMENTS, *line->at);
}

static bool take_guid(struct hd_cursor text, uint64_t *guid)
{
	return hd_take_hex(&text, guid) && hd_cursor_done(&text) && *guid;
}

/* Takes the GUID of a section from the text after its name in the head. */
static int take_object(const struct hd_config_section *section, const struct hd_cursor *text,
		       uint64_t *guid, struct hd_error *err)
{
	char quote[HD_QUOTE_SIZE];

	*guid = 0;
	hd_cursor_quote(text, quote, sizeof(quote));
	switch (section->kind) {
	case HD_CONFIG_OTHER_PROGRAM:
		return 0;
	case HD_CONFIG_BY_GUID:
		if (take_guid(*text, guid))
			return 0;
		return hd_error_set(err, -EINVAL,
				    "[%s] needs a GUID, such as [%s 0x0002c90300001234]; '%s' is "
				    "not a GUID",
				    section->name, section->name, quote);
	default:
		if (hd_cursor_done(text))
			return 0;
		return hd_error_set(err, -EINVAL, "section [%s] takes no name or GUID: '%s'",
				    section->name, quote);
	}
}

/* A section that is not registered. */
static int enter_unknown(struct reading *reading, const char *name)
{
	if (!config_sections_ignores(reading->sections, name))
		return config_sections_unknown(reading->sections, name, reading->err);
	reading->section = &ignored;
	reading->object = NULL;
	return 0;
}

/* Begins the section with this name and object. */
static int enter(struct reading *reading, const char *name, const struct hd_cursor *object)
{
	unsigned index = config_sections_find(reading->sections, name);
	const struct hd_config_section *section = &reading->sections->items[index];
	uint64_t guid;
	int rc;

	if (index == reading->sections->count)
		return enter_unknown(reading, name);
	rc = take_object(section, object, &guid, reading->err);
	if (rc)
		return rc;
	reading->section = section;
	reading->object = NULL;
	if (section->kind == HD_CONFIG_OTHER_PROGRAM)
		return 0;
	return config_values_enter(reading->config, index, guid, reading->lines.number,
				   &reading->object, reading->err);
}

/* Takes [name] or [name object], after the first bracket. Only a comment may follow. */
static int take_head(struct reading *reading, struct hd_cursor line)
{
	struct hd_cursor head, word;
	char name[HD_QUOTE_SIZE], quote[HD_QUOTE_SIZE];

	/* until the head turns out to be good */
	reading->section = &ignored;
	reading->object = NULL;
	if (!hd_take_until(&line, "]", &head))
		return bad_form(reading->err);
	hd_cursor_trim(&head);
	if (!hd_take_word(&head, &word))
		return hd_error_set(reading->err, -EINVAL, "section without a name");
	hd_cursor_quote(&word, name, sizeof(name));
	hd_take_blanks(&line);
	if (says_something(&line))
		return hd_error_set(reading->err, -EINVAL,
				    "'%s' after [%s]: expected it on the next line",
				    hd_cursor_quote(&line, quote, sizeof(quote)), name);
	hd_cursor_trim(&head);
	return enter(reading, name, &head);
}

/* inih's handler. Returns 0 on failure, as inih expects. */
static int take_pair(void *context, const char *section, const char *key, const char *value)
{
	struct reading *reading = context;
	char head[HEAD_SIZE];

	(void)section;
	if (!reading->object)
		return 1;
	reading->rc = config_values_set(reading->section, reading->object, key, value,
					reading->lines.number, reading->err);
	if (reading->rc)
		hd_error_prefix(reading->err, reading->rc, "%s",
				config_values_print_head(reading->section, reading->object, head,
							 sizeof(head)));
	return !reading->rc;
}

static int take_key(struct reading *reading)
{
	char line[HD_CONFIG_LINE_LONGEST + 1];
	int bad;

	if (!reading->section) {
		reading->section = &ignored;
		return config_sections_unknown(reading->sections, "", reading->err);
	}
	memcpy(line, reading->lines.line, reading->lines.length);
	line[reading->lines.length] = '\0';
	reading->rc = 0;
	bad = ini_parse_string(line, take_pair, reading);
	if (bad < 0)
		return hd_error_no_memory(reading->err);
	return bad && !reading->rc ? bad_form(reading->err) : reading->rc;
}

static int take_line(struct reading *reading)
{
	struct hd_cursor line = hd_lines_cursor(&reading->lines);

	if (memchr(line.at, '\0', reading->lines.length))
		return hd_error_set(reading->err, -EINVAL, "zero byte: this is not a text file");
	if (reading->lines.length > HD_CONFIG_LINE_LONGEST)
		return hd_error_set(reading->err, -EINVAL,
				    "line is longer than %d characters, the most allowed",
				    HD_CONFIG_LINE_LONGEST);
	hd_take_blanks(&line);
	if (!says_something(&line))
		return 0;
	return hd_take_text(&line, "[") ? take_head(reading, line) : take_key(reading);
}

/* Returns the error of a line if it ends the reading, with the place before the reason. */
static int take_fault(const struct reading *reading, unsigned line, int rc)
{
	if (!reading->fault || rc == -ENOMEM)
		return hd_error_prefix(reading->err, rc, "%s:%u", reading->lines.name, line);
	reading->fault(reading->context, line, reading->err->text);
	return 0;
}

static int take_lines(struct reading *reading)
{
	int more, rc = 0;

	while (!rc && (more = hd_lines_next(&reading->lines, reading->err)) != 0) {
		if (more < 0)
			return more;
		rc = take_line(reading);
		if (rc)
			rc = take_fault(reading, reading->lines.number, rc);
	}
	return rc;
}

static int check_values(const struct reading *reading)
{
	const struct hd_config *config = reading->config;
	unsigned line;
	int rc = 0;

	for (unsigned i = 0; !rc && i < config->count; i++)
		for (unsigned j = 0; !rc && j < config->values[i].count; j++) {
			rc =
			    config_values_check(&config->sections->items[i],
						&config->values[i].objects[j], &line, reading->err);
			if (rc)
				rc = take_fault(reading, line, rc);
		}
	return rc;
}

int hd_config_inspect(const struct hd_config_sections *sections, const struct hd_text *text,
		      hd_config_fault_fn *fault, void *context, struct hd_config **out,
		      struct hd_error *err)
{
	struct reading reading = {.sections = sections,
				  .lines = hd_lines_of(text),
				  .err = err,
				  .fault = fault,
				  .context = context};
	int rc = hd_config_defaults(sections, &reading.config, err);

	if (rc)
		return rc;
	rc = take_lines(&reading);
	if (!rc)
		rc = check_values(&reading);
	if (rc)
		hd_config_free(reading.config);
	else
		*out = reading.config;
	return rc;
}

int hd_config_parse(const struct hd_config_sections *sections, const struct hd_text *text,
		    struct hd_config **out, struct hd_error *err)
{
	return hd_config_inspect(sections, text, NULL, NULL, out, err);
}

int hd_config_read(const struct hd_config_sections *sections, const char *path, bool must_exist,
		   struct hd_config **out, struct hd_error *err)
{
	struct hd_text text;
	int rc = hd_text_open_regular(path, HD_CONFIG_LARGEST, &text, err);

	if (rc == -ENOENT && !must_exist)
		return hd_config_defaults(sections, out, err);
	if (rc)
		return rc;
	rc = hd_config_parse(sections, &text, out, err);
	hd_text_close(&text);
	return rc;
}
