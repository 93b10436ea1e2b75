/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live_fabric.h"
#include "progress.h"
#include "why.h"

#include <errno.h>
#include <stdlib.h>

/* The plugin closes the connection where it has no answer. */
static int ask(const struct plugin_address *address, const char *request, const char *missing,
	       char **text, struct hd_error *err)
{
	int rc = plugin_answer_get(address, request, text, err);

	return rc == -EPROTO ? hd_error_set(err, -ENODATA, "%s", missing) : rc;
}

int why_live_ask(const struct plugin_address *address, bool tables, struct why_live *live,
		 struct hd_error *err)
{
	progress_begin("asking OpenSM");
	int rc = live_fabric_ask(address, &live->fabric, err);
	if (!rc)
		rc =
		    ask(address, "counters",
			"OpenSM's performance manager has not read the ports twice yet; it does so "
			"with 'perfmgr TRUE' in opensm.conf, every perfmgr_sweep_time_s seconds",
			&live->counters, err);
	if (!rc && tables)
		rc = ask(address, "tables",
			 "OpenSM's plugin has no tables, because no engine of Heddle routes; read "
			 "them from the switches with dump_fts and give the file as TABLES",
			 &live->tables, err);
	progress_end();
	return rc;
}

void why_live_release(struct why_live *live)
{
	free(live->fabric);
	free(live->tables);
	free(live->counters);
}
