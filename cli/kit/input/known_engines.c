/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "known_engines.h"
#include "message.h"

#include <heddle/engines/engine_list.h>
#include <stdlib.h>

static struct hd_engine_list *loaded; /* NULL: not loaded yet, or no memory */
static bool tried;

static const struct hd_engine_list *load(void)
{
	const struct hd_log log = message_log(false);
	const struct hd_engine_source source = {.path = secure_getenv(KNOWN_ENGINES_PATH),
						.log = &log};
	struct hd_error err;

	if (!tried && hd_engine_list_new(&source, &loaded, &err))
		message_fail(&err);
	tried = true;
	return loaded;
}

const struct hd_engine *const *known_engines_all(unsigned *count)
{
	return hd_engine_list_all(load(), count);
}

const struct hd_engine *known_engines_find(const char *name)
{
	return hd_engine_list_find(load(), name);
}

void known_engines_forget(void)
{
	hd_engine_list_free(loaded);
	loaded = NULL;
	tried = false;
}
