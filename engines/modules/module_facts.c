/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "module_facts.h"
#include "engine_options.h"

#include <errno.h>
#include <string.h>

static const struct hd_option lane_rows[] = {LANE_OPTIONS};

#define LANE_ROWS (sizeof(lane_rows) / sizeof(lane_rows[0]))

static int check_abi(const struct hd_engine_module *module, struct hd_error *err)
{
	static const uint32_t sizes[] = HD_ENGINE_SIZES_OF;

	if (module->abi != HD_ENGINE_ABI)
		return hd_error_set(err, -EINVAL,
				    "it was built for ABI %u of engines, and this Heddle has ABI "
				    "%d; build it again with the libheddle-dev of this Heddle",
				    module->abi, HD_ENGINE_ABI);
	if (memcmp(module->sizes, sizes, sizeof(sizes)))
		return hd_error_set(err, -EINVAL,
				    "its structs have other sizes than those of this Heddle; build "
				    "it again with the libheddle-dev of this Heddle");
	return 0;
}

/* ---- texts ---- */

/* Small letters, digits and '_', a letter first: such names need no quotes anywhere. */
static bool is_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

	return text && text[0] && strchr(letters, text[0]) &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(text) &&
	       strlen(text) <= HD_ENGINE_NAME_LONGEST;
}

/* In JSON, man pages and logs every byte is shown. */
static bool is_text(const char *text)
{
	if (!text || !*text)
		return false;
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static int check_texts(const struct hd_engine *engine, struct hd_error *err)
{
	if (!is_name(engine->name))
		return hd_error_set(err, -EINVAL,
				    "its engine has no name of 1 to %d small letters, digits and "
				    "'_' that begins with a letter",
				    HD_ENGINE_NAME_LONGEST);
	if (!strncmp(engine->name, "ar_", 3))
		return hd_error_set(err, -EINVAL,
				    "the name '%s' is not allowed: ar_NAME is engine NAME with "
				    "adaptive routing",
				    engine->name);
	if (!is_text(engine->summary) || !is_text(engine->description))
		return hd_error_set(err, -EINVAL,
				    "engine '%s' needs a summary and a description in ASCII",
				    engine->name);
	return 0;
}

static int check_facts(const struct hd_engine *engine, struct hd_error *err)
{
	if (!engine)
		return hd_error_set(err, -EINVAL, "it has no engine");
	int rc = check_texts(engine, err);
	if (rc)
		return rc;
	if (!engine->route)
		return hd_error_set(err, -EINVAL, "engine '%s' has no function route",
				    engine->name);
	if (engine->delegates || engine->from_module)
		return hd_error_set(err, -EINVAL,
				    "engine '%s': delegates and from_module are not for modules",
				    engine->name);
	if (engine->option_count > MODULE_FACTS_OPTIONS_MAX ||
	    (engine->option_count && !engine->options))
		return hd_error_set(err, -EINVAL, "engine '%s' has no table of 0 to %d options",
				    engine->name, MODULE_FACTS_OPTIONS_MAX);
	return 0;
}

/* ---- options ---- */

/* The default must be a value that a user could give. */
static int check_fallback(const struct hd_option *option, struct hd_error *err)
{
	struct hd_option without = *option;

	without.fallback = NULL;
	struct hd_options *values = hd_options_new(&without, 1);
	int rc = values ? hd_options_set(values, option->name, option->fallback, err)
			: hd_error_no_memory(err);
	hd_options_free(values);
	return rc;
}

static bool is_taken(const struct hd_option *options, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(options[i].name, name))
			return true;
	return false;
}

/* Checks option number `index`. */
static int check_option(const struct hd_engine *engine, unsigned index, struct hd_error *err)
{
	const struct hd_option *option = &engine->options[index];

	if (!is_name(option->name) || !is_text(option->summary))
		return hd_error_set(err, -EINVAL,
				    "option %u of engine '%s' needs a name of small letters, "
				    "digits and '_', and a summary in ASCII",
				    index + 1, engine->name);
	if (is_taken(lane_rows, LANE_ROWS, option->name))
		return hd_error_set(err, -EINVAL,
				    "engine '%s': the option '%s' is added to every engine; leave "
				    "it out",
				    engine->name, option->name);
	if (is_taken(engine->options, index, option->name))
		return hd_error_set(err, -EINVAL, "engine '%s' has two options '%s'", engine->name,
				    option->name);
	if ((unsigned)option->type > HD_OPTION_STRING || !option->fallback ||
	    (option->type == HD_OPTION_CHOICE && !is_text(option->choices)))
		return hd_error_set(err, -EINVAL,
				    "engine '%s': option '%s' has an unknown type, no fallback or "
				    "no choices",
				    engine->name, option->name);
	int rc = check_fallback(option, err);
	return rc ? hd_error_prefix(err, rc, "engine '%s': a fallback is not valid", engine->name)
		  : 0;
}

/* ---- the engine of the program ---- */

static int copy_engine(const struct hd_engine *engine, struct hd_arena *arena,
		       const struct hd_engine **out, struct hd_error *err)
{
	const unsigned count = engine->option_count + (unsigned)LANE_ROWS;
	struct hd_engine *copy = hd_arena_alloc(arena, 1, sizeof(*copy));
	struct hd_option *options = hd_arena_alloc(arena, count, sizeof(*options));

	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	if (engine->option_count)
		memcpy(options, engine->options, engine->option_count * sizeof(*options));
	memcpy(options + engine->option_count, lane_rows, sizeof(lane_rows));
	*copy = *engine;
	copy->options = options;
	copy->option_count = count;
	copy->policies |= HD_POLICY_COMMON;
	copy->from_module = true;
	*out = copy;
	return 0;
}

int module_facts_make(const struct hd_engine_module *module, struct hd_arena *arena,
		      const struct hd_engine **out, struct hd_error *err)
{
	int rc = check_abi(module, err);

	if (!rc)
		rc = check_facts(module->engine, err);
	for (unsigned i = 0; !rc && i < module->engine->option_count; i++)
		rc = check_option(module->engine, i, err);
	return rc ? rc : copy_engine(module->engine, arena, out, err);
}
