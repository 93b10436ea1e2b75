/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libheddlebenchsa.so times how fast the SA answers PathRecord requests, inside OpenSM. To be loaded
 * as a plugin after libheddle.so, and preloaded too: then it takes the answers that it asked for
 * before they are sent. After the first sweep it calls three in turn: OpenSM's own handler for local
 * destinations, the registered handler for the same, and the registered handler for the foreign
 * GIDs. Then it ends OpenSM.
 *
 * Environment: HEDDLE_BENCH_GIDS, a file with one `PREFIX GUID` in hexadecimal a line, the foreign
 * destinations; HEDDLE_BENCH_RUNS. Prints to the file HEDDLE_BENCH_RESULTS, one line a run:
 *   stock|local|foreign REQUESTS CPU_SECONDS ANSWERS
 */
#include "host.h"

#include <complib/cl_dispatcher.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_version.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS 20000u
#define SAMPLES 72u

extern void osm_pr_rcv_process(void *context, void *data);

static struct {
	osm_opensm_t *osm;
	uint64_t *local; /* [local_count] port GUIDs of hosts */
	uint32_t local_count;
	ib_gid_t *foreign;
	uint32_t foreign_count;
	bool done;
} bench;

static _Thread_local bool counting; /* answers of this thread are counted, not sent */
static _Thread_local uint64_t answers;

/* ---- in place of the transport ---- */

__attribute__((visibility("default"))) ib_api_status_t
osm_vendor_send(osm_bind_handle_t bind, osm_madw_t *const wrapper, boolean_t const answer_expected)
{
	static ib_api_status_t (*transport)(osm_bind_handle_t, osm_madw_t *const, boolean_t const);

	if (!counting) {
		if (!transport)
			*(void **)&transport = dlsym(RTLD_NEXT, "osm_vendor_send");
		return transport(bind, wrapper, answer_expected);
	}
	answers += !osm_madw_get_sa_mad_ptr(wrapper)->status;
	osm_mad_pool_put(&bench.osm->mad_pool, wrapper);
	return IB_SUCCESS;
}

/* ---- requests ---- */

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void set_gid(ib_gid_t *gid, ib_net64_t prefix, uint64_t guid)
{
	gid->unicast.prefix = prefix;
	gid->unicast.interface_id = cl_hton64(guid);
}

static void fill_request(uint32_t number, bool foreign, ib_path_rec_t *record)
{
	ib_net64_t prefix = bench.osm->subn.opt.subnet_prefix;

	set_gid(&record->sgid, prefix, bench.local[number % bench.local_count]);
	if (foreign)
		record->dgid = bench.foreign[number * 7919u % bench.foreign_count];
	else
		set_gid(&record->dgid, prefix,
			bench.local[number / bench.local_count % bench.local_count]);
}

/* Feeds requests to a handler, and writes how long it took. */
static void run(FILE *results, const char *name, cl_pfn_msgrcv_cb_t handler, void *context,
		bool foreign)
{
	union {
		ib_sa_mad_t sa;
		ib_mad_t any;
	} mad = {.sa = {.base_ver = 1,
			.mgmt_class = IB_MCLASS_SUBN_ADM,
			.class_ver = 2,
			.method = IB_MAD_METHOD_GET,
			.attr_id = IB_MAD_ATTR_PATH_RECORD,
			.comp_mask = IB_PR_COMPMASK_DGID | IB_PR_COMPMASK_SGID}};
	osm_madw_t wrapper = {.h_bind = bench.osm->sa.mad_ctrl.h_bind, .p_mad = &mad.any};
	double begin = cpu_seconds();

	wrapper.mad_addr.dest_lid = bench.osm->subn.sm_base_lid;
	answers = 0;
	for (uint32_t i = 0; i < REQUESTS; i++) {
		fill_request(i, foreign, (ib_path_rec_t *)(void *)mad.sa.data);
		handler(context, &wrapper);
	}
	fprintf(results, "%s %u %.6f %" PRIu64 "\n", name, REQUESTS, cpu_seconds() - begin,
		answers);
}

static void run_all(void)
{
	const cl_disp_reg_info_t *registered = bench.osm->sa.pr_disp_h;
	const char *path = getenv("HEDDLE_BENCH_RESULTS"), *count = getenv("HEDDLE_BENCH_RUNS");
	FILE *results = path ? fopen(path, "w") : NULL;

	if (!results)
		return;
	counting = true;
	for (int i = count ? atoi(count) : 1; i > 0; i--) {
		run(results, "stock", osm_pr_rcv_process, &bench.osm->sa, false);
		run(results, "local", registered->pfn_rcv_callback, (void *)registered->context,
		    false);
		run(results, "foreign", registered->pfn_rcv_callback, (void *)registered->context,
		    true);
	}
	counting = false;
	fclose(results);
}

/* ---- the subnet ---- */

static void list_hosts(void)
{
	cl_qmap_t *ports = &bench.osm->subn.port_guid_tbl;

	bench.local = calloc(cl_qmap_count(ports) + 1, sizeof(*bench.local));
	for (cl_map_item_t *item = cl_qmap_head(ports);
	     bench.local && bench.local_count < SAMPLES && item != cl_qmap_end(ports);
	     item = cl_qmap_next(item)) {
		osm_port_t *port = (osm_port_t *)(void *)item;
		if (osm_node_get_type(port->p_node) == IB_NODE_TYPE_CA)
			bench.local[bench.local_count++] = cl_ntoh64(port->guid);
	}
}

static void list_foreign(void)
{
	const char *path = getenv("HEDDLE_BENCH_GIDS");
	FILE *stream = path ? fopen(path, "r") : NULL;
	uint64_t prefix, guid;

	while (stream && fscanf(stream, "%" SCNx64 " %" SCNx64, &prefix, &guid) == 2) {
		ib_gid_t *more = realloc(bench.foreign, (bench.foreign_count + 1) * sizeof(*more));
		if (!more)
			break;
		bench.foreign = more;
		set_gid(&more[bench.foreign_count++], cl_hton64(prefix), guid);
	}
	if (stream)
		fclose(stream);
}

static void report(void *data, osm_epi_event_id_t event, void *details)
{
	(void)data;
	(void)details;
	if (event != OSM_EVENT_ID_SUBNET_UP || bench.done)
		return;
	bench.done = true;
	list_hosts();
	list_foreign();
	if (bench.local_count && bench.foreign_count)
		run_all();
	free(bench.local);
	free(bench.foreign);
	kill(getpid(), SIGTERM);
}

static void *create(struct osm_opensm *osm)
{
	bench.osm = osm;
	return &bench;
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
    .osm_version = OSM_VERSION, .create = create, .report = report};
