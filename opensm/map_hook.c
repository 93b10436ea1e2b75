/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's dispatcher knows one handler for each kind of request. The SA keeps what the dispatcher
 * returned for it, so that it can take its handlers back at the end. So the new handlers are
 * registered in the name of the SA, and the SA takes them back before it frees the plugin.
 */
#include "map_hook.h"
#include "map_multipath.h"
#include "map_path.h"
#include "opensm_headers.h"

#include <errno.h>

/* OpenSM's own handlers. No header declares them. */
extern void osm_pr_rcv_process(void *context, void *data);
extern void osm_mpr_rcv_process(void *context, void *data);

static void answer_path(void *context, void *data)
{
	const struct map_hook *hook = context;

	if (!map_path_answer(hook->sa, hook->table, data))
		osm_pr_rcv_process(hook->sa, data);
}

static void answer_multipath(void *context, void *data)
{
	const struct map_hook *hook = context;

	if (!map_multipath_answer(hook->sa, hook->table, data))
		osm_mpr_rcv_process(hook->sa, data);
}

static bool replace(struct osm_sa *sa, cl_disp_reg_handle_t *handle, cl_disp_msgid_t request,
		    cl_pfn_msgrcv_cb_t handler, void *context)
{
	cl_disp_unregister(*handle);
	*handle = cl_disp_register(sa->p_disp, request, handler, context);
	return *handle != CL_DISP_INVALID_HANDLE;
}

static void restore(struct osm_sa *sa)
{
	replace(sa, &sa->pr_disp_h, OSM_MSG_MAD_PATH_RECORD, osm_pr_rcv_process, sa);
	replace(sa, &sa->mpr_disp_h, OSM_MSG_MAD_MULTIPATH_RECORD, osm_mpr_rcv_process, sa);
}

int map_hook_set(struct map_hook *hook, struct osm_opensm *osm, const struct map_table *table,
		 struct hd_error *err)
{
	struct osm_sa *sa = &osm->sa;

	*hook = (struct map_hook){.sa = sa, .table = table};
	if (replace(sa, &sa->pr_disp_h, OSM_MSG_MAD_PATH_RECORD, answer_path, hook) &&
	    replace(sa, &sa->mpr_disp_h, OSM_MSG_MAD_MULTIPATH_RECORD, answer_multipath, hook))
		return 0;
	restore(sa);
	return hd_error_no_memory(err);
}
