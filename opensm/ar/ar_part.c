/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ADAPTIVE ROUTING in OpenSM: which jobs there are, and when.
 *
 * The sweeper thread calls the hooks, and they post jobs to the writer (ar_worker.h). A job has all that it needs:
 * a held routing, the addresses of the switches and a copy of the settings. ar_tasks.h says what is done with it.
 *
 *	sweep_begins   reads [ar] of heddle.conf
 *	discovered     another engine than ours routes: AR_DISABLE, and waits
 *	refused        the same
 *	               In all of these and below, AR_DISABLE asks switches that have not been asked, and switches AR off
 *	               where it is on, by the paths that OpenSM has just found
 *	published      there are other tables. AR_DISABLE, if AR is not wanted, or packets are to leave what is drained
 *	sweep_programs the switches get them next: AR_PREPARE, if AR is wanted, goes to the next plan step by step, and
 *	               the part sweep writes the forwarding entries of each step (sweep_change.h). If there are no such
 *	               steps, it switches AR off before. The sweeper waits for it, with OpenSM's lock, for
 *	               AR_PREPARE_MOST_MS at most
 *	routed         the switches have the tables: AR_PROGRAM plans, programs the groups, then tells hosts. Nobody
 *	               waits. If a switch has not got its table, the next sweep does it. AR_DISABLE, if AR is not wanted
 *	settled        links are active now: AR_RECOVER switches fast recovery on, after AR_PROGRAM. Before, switches cannot
 *	               be told their neighbours, since MADs of that class pass active links only
 *	key_*          a routing key changes entries between sweeps: AR tables follow (ar_key.h)
 *	repair_*       a repair changes tables before the sweep: AR leads its steps (ar_repair.h)
 *
 * STATES. `active`: AR was wanted in the last sweep, and the jobs know what switches hold. `completed`: all
 * switches have got the last tables. `in_switches`: the routing whose forwarding tables all switches have; NULL if
 * that is not known.
 *
 * WHAT A SWITCH HOLDS is known only to the jobs (ar_held.h): a switch that does not answer is taken for one with all
 * that it may hold. At first nothing is known, also where AR is not wanted: the run before may have had it on. Unknown
 * is never taken for off. So where AR is not wanted, each sweep has an AR_DISABLE until all switches of the subnet have
 * said that it is off; from then on AR costs nothing. A site where another manager has AR says so (`foreign`).
 */
#include "ar_worker.h"
#include "engine_callbacks.h"
#include "master.h"
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "repair_change.h"
#include "routing.h"
#include "settings.h"
#include "snapshot.h"
#include "sweep_change.h"
#include "switch_addresses.h"
#include "switch_tables.h"

#include <complib/cl_passivelock.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define END_MS 5000u /* for the job that is there when OpenSM ends */

/* Only the hooks of the sweeper thread use it, but for `worker`, `started` and `repair_job`: the hooks in a repair use
 * them, and the hook `status` reads figures. */
struct ar {
	struct part_context *context;
	struct ar_worker worker;
	atomic_bool started; /* the worker: in the first sweep */
	struct ar_settings settings;
	bool named; /* the name of the engine asks for AR */
	bool foreign; /* in the last sweep another manager had AR */
	bool active;
	atomic_bool wanted; /* when the last sweep was complete */
	/* [asked_count] GUIDs of the switches of the last AR_DISABLE, ascending; owned. NULL: all have to be asked. */
	uint64_t *asked;
	uint32_t asked_count;
	bool completed; /* all switches have got the last tables */
	/* Whose forwarding tables all switches have; held; NULL: not known. */
	struct routing *in_switches;
	bool said_incomplete;
	bool fresh; /* what the switches hold is not known */
	bool recovers; /* fast recovery was wanted when it was looked at last */
	bool reread; /* the sweep has changed nothing */
	uint32_t links; /* of the last fabric */
	/* AR_REPAIR, to be copied, for repairs until the next sweep; with the writer's lock. NULL: memory was short. */
	struct ar_job *repair_job;
};

static int create(struct part_context *context, void **state, struct hd_error *err)
{
	struct ar *ar = calloc(1, sizeof(*ar));

	if (!ar)
		return hd_error_no_memory(err);
	ar->context = context;
	ar_settings_read(&ar->settings, context->config, false, &context->log);
	*state = ar;
	return 0;
}

static void sweep_begins(void *state)
{
	struct ar *ar = state;

	ar_settings_read(&ar->settings, ar->context->config, ar->named, &ar->context->log);
}

static struct ar_job *job_new(const struct ar *ar, enum ar_task task)
{
	const osm_subn_t *subn = &ar->context->osm->subn;
	struct ar_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->task = task;
	job->limits = (struct hd_smp_limits)HD_SMP_LIMITS_DEFAULT;
	if (subn->opt.transaction_timeout)
		job->limits.timeout_ms = subn->opt.transaction_timeout;
	job->limits.retries =
	    subn->opt.transaction_retries < 10 ? subn->opt.transaction_retries : 10;
	job->port_guid = cl_ntoh64(subn->sm_port_guid);
	job->m_key = cl_ntoh64(subn->opt.m_key);
	job->threads = settings_threads(ar->context->config);
	if (!ar_settings_copy(&ar->settings, &job->settings))
		return job;
	free(job);
	return NULL;
}

/* With OpenSM's lock held. */
static struct ar_job *job_of_routing(const struct ar *ar, enum ar_task task)
{
	struct routing *routing = ar->context->published;
	struct ar_job *job = job_new(ar, task);

	if (!job)
		return NULL;
	job->routing = routing_hold(routing);
	job->addresses = switch_addresses_find(routing->fabric, ar->context->osm);
	if (job->addresses)
		return job;
	ar_job_free(job);
	return NULL;
}

static void forget_asked(struct ar *ar)
{
	free(ar->asked);
	ar->asked = NULL;
	ar->asked_count = 0;
}

static bool is_other_master(const struct ar *ar)
{
	const osm_subn_t *subn = &ar->context->osm->subn;

	return subn->coming_out_of_standby || subn->first_time_master_sweep;
}

/* AR_DISABLE for all switches that OpenSM has now, by the paths of now. With OpenSM's lock held. */
static struct ar_job *job_disable(struct ar *ar)
{
	struct osm_opensm *osm = ar->context->osm;
	struct ar_job *job = job_new(ar, AR_DISABLE);
	struct hd_fabric *fabric;

	forget_asked(ar);
	if (!job || snapshot_take(osm, NULL, &fabric, NULL))
		return job; /* without a switch, or memory: those of the last job */
	const size_t size = fabric->switch_count * sizeof(*ar->asked);
	job->routing = routing_of_fabric(fabric);
	job->addresses = job->routing ? switch_addresses_find(fabric, osm) : NULL;
	if (!job->addresses) {
		ar_job_free(job);
		return NULL;
	}
	ar->asked = malloc(size);
	if (ar->asked) {
		memcpy(ar->asked, fabric->node_guid, size);
		ar->asked_count = fabric->switch_count;
	}
	return job;
}

static bool start(struct ar *ar)
{
	struct hd_error err;

	if (ar->started)
		return true;
	if (ar_worker_start(&ar->worker, ar->context->writer, ar->context->osm, &ar->context->log,
			    &err)) {
		log_error(&ar->context->log, LOG_ERROR_AR, "adaptive routing: %s", err.text);
		return false;
	}
	ar->worker.adaptive = ar->context->adaptive;
	ar->started = true;
	return true;
}

/* Returns the number of the job, or 0 after logging why it could not be posted. */
static uint64_t post(struct ar *ar, struct ar_job *job)
{
	if (job && start(ar))
		return ar_worker_post(&ar->worker, job);
	if (!job)
		log_error(&ar->context->log, LOG_ERROR_AR, "adaptive routing: out of memory");
	ar_job_free(job);
	return 0;
}

static void say_unfinished(const struct ar *ar)
{
	log_error(
	    &ar->context->log, LOG_ERROR_AR,
	    "adaptive routing could not be changed or switched off within %u ms; the switches "
	    "get their new tables all the same",
	    AR_PREPARE_MOST_MS);
}

static void post_and_wait(struct ar *ar, struct ar_job *job)
{
	if (job) {
		job->waited = true;
		job->fresh |= is_other_master(ar);
	}
	uint64_t number = post(ar, job);

	if (number && !ar_worker_wait(&ar->worker, number, AR_PREPARE_MOST_MS))
		say_unfinished(ar);
}

static int compare_guids(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Whether all switches that OpenSM has now were asked. With OpenSM's lock held. */
static bool all_were_asked(const struct ar *ar)
{
	const cl_qmap_t *table = &ar->context->osm->subn.sw_guid_tbl;

	for (const cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table);
	     item = cl_qmap_next(item)) {
		const uint64_t guid = cl_ntoh64(cl_qmap_key(item));
		if (!ar->asked_count ||
		    !bsearch(&guid, ar->asked, ar->asked_count, sizeof(*ar->asked), compare_guids))
			return false;
	}
	return true;
}

/* Whether AR may be on somewhere, as far as the jobs know. For any thread. */
static bool may_be_on(const struct ar *ar)
{
	struct adaptive_view view;

	adaptive_look(ar->context->adaptive, &view);
	const bool may = view.state != ADAPTIVE_OFF && view.state != ADAPTIVE_FOREIGN;
	adaptive_view_release(&view);
	return may;
}

/* Whether all switches that OpenSM has now have said that AR is off. With OpenSM's lock held. */
static bool is_known_off(const struct ar *ar)
{
	return !may_be_on(ar) && !is_other_master(ar) && all_were_asked(ar);
}

static void note_in_switches(struct ar *ar, struct routing *routing)
{
	if (routing)
		routing_hold(routing);
	routing_release(ar->in_switches);
	ar->in_switches = routing;
}

/* Repairs change tables between sweeps. */
static void note_repaired(struct ar *ar)
{
	struct routing *repaired = ar->started ? ar_worker_take_repaired(&ar->worker) : NULL;

	if (repaired)
		note_in_switches(ar, repaired);
	routing_release(repaired);
}

/* Whether OpenSM runs on ibsim with libumad2sim.so alone. That gives the answers to OpenSM's questions to the umad port
 * that was opened last, so a port of ours would stop OpenSM. */
static bool shares_port(void)
{
	return dlsym(RTLD_DEFAULT, "sim_client_init") && !dlsym(RTLD_DEFAULT, "umad_agents");
}

/* Whether another manager has AR, as heddle.conf says, or nobody can ask. Then it is not asked for. */
static bool is_foreign(struct ar *ar)
{
	const struct hd_ar_config *config = &ar->settings.config;
	const bool foreign = config->foreign || (!config->enable && shares_port());

	if (foreign != ar->foreign) {
		if (foreign && !config->foreign)
			log_info(&ar->context->log,
				 "switches are not asked for adaptive routing: ibsim's "
				 "libumad2sim.so has one umad port for each process");
		ar->foreign = foreign;
		ar->active = ar->completed = false;
		forget_asked(ar);
		note_in_switches(ar, NULL);
		adaptive_note_foreign(ar->context->adaptive, ar->foreign);
	}
	return ar->foreign;
}

/* Other engines change tables without asking us. `proved`: it is ours that does. `lock` NULL: OpenSM's lock is held. Else a repair may want it while this
 * waits. */
static void disable_before_others(struct ar *ar, cl_plock_t *lock, bool proved)
{
	struct ar_job *job = NULL;

	if (is_foreign(ar))
		return;
	if (lock)
		cl_plock_acquire(lock);
	/* in its first sweep OpenSM is not the master yet, and `routed` is the first to ask */
	const bool ask = master_is_ours(ar->context->osm) && !is_known_off(ar);
	if (ask)
		job = job_disable(ar);
	if (job)
		job->proved = proved;
	if (lock)
		cl_plock_release(lock);
	if (ask)
		post_and_wait(ar, job);
	note_repaired(ar);
	note_in_switches(ar, NULL);
	ar->completed = false;
}

static void discovered(void *state)
{
	struct ar *ar = state;
	struct osm_opensm *osm = ar->context->osm;
	const struct osm_routing_engine *first = osm->routing_engine_list;

	if (first && !engine_callbacks_ours(first))
		disable_before_others(ar, &osm->lock, false);
}

static void refused(void *state)
{
	disable_before_others(state, NULL, false);
}

static bool is_fresh(const struct ar *ar)
{
	return !ar->active || !ar->completed || is_other_master(ar);
}

static void note_name(struct ar *ar, const struct routing *routing)
{
	if (routing->adaptive == ar->named)
		return;
	ar->named = routing->adaptive;
	ar_settings_read(&ar->settings, ar->context->config, ar->named, &ar->context->log);
}

/* Whether keys have come or gone with the sweep, although the engine's tables are the same. */
static bool keys_changed(const struct ar *ar, const struct routing *routing)
{
	const struct routing *before = ar->in_switches;

	if (!routing->base && !(before && before->base))
		return false;
	return !before || !hd_routes_equal(before->routes, routing->routes);
}

/* Where AR is not wanted it goes off before tables change. Without a change, or if all have been asked before, `routed` is
 * early enough. */
static void disable_unwanted(struct ar *ar)
{
	if (!is_known_off(ar) && (!ar->reread || is_other_master(ar) || !all_were_asked(ar))) {
		struct ar_job *job = job_disable(ar);
		if (job)
			job->proved = true;
		post_and_wait(ar, job);
	}
}

static void published(void *state)
{
	struct ar *ar = state;
	const struct routing *routing = ar->context->published;

	if (!routing || is_foreign(ar))
		return;
	/* Packets use what is drained until the last entry has left it, and the proofs do not know of it. */
	if (routing->drains)
		disable_before_others(ar, NULL, true);
	ar->fresh = is_fresh(ar);
	note_repaired(ar);
	note_name(ar, routing);
	ar->reread = !routing->changes && routing->fabric->isl_count == ar->links;
	ar->links = routing->fabric->isl_count;
	ar->completed = false;
	if (!ar->settings.config.enable && !routing->drains)
		disable_unwanted(ar);
	ar->active &= ar->settings.config.enable;
}

static void sweep_programs(void *state, struct sweep_change *change)
{
	struct ar *ar = state;
	const struct routing *routing = ar->context->published;

	if (ar->foreign || !ar->settings.config.enable)
		return;
	if (!routing->changes && !change->entries && !ar->fresh && !keys_changed(ar, routing))
		return;
	struct ar_job *job = start(ar) ? job_of_routing(ar, AR_PREPARE) : NULL;
	forget_asked(ar);
	ar->active = true;
	if (!job) {
		post(ar, NULL);
		return;
	}
	job->waited = true;
	job->fresh = ar->fresh;
	job->before = ar->in_switches ? routing_hold(ar->in_switches) : NULL;
	job->tables = change->before;
	if (!ar_worker_serve(&ar->worker, job, change, AR_PREPARE_MOST_MS))
		say_unfinished(ar);
}

static void say_incomplete(struct ar *ar, const osm_switch_t *sw)
{
	if (!ar->said_incomplete)
		log_info(&ar->context->log,
			 "adaptive routing waits for the next sweep: switch 0x%016" PRIx64
			 " has not got its forwarding table",
			 cl_ntoh64(osm_node_get_node_guid(sw->p_node)));
	ar->said_incomplete = true;
}

/* With OpenSM's lock held. */
static struct ar_job *next_job(struct ar *ar)
{
	const osm_switch_t *incomplete;
	struct ar_job *job;

	if (!ar->context->published || !ar->settings.config.enable) {
		job = is_known_off(ar) ? NULL : job_disable(ar);
		if (job)
			job->late = !ar->context->published;
		return job;
	}
	incomplete = switch_tables_incomplete(ar->context->published, ar->context->osm);
	if (incomplete) {
		say_incomplete(ar, incomplete);
		return NULL;
	}
	ar->said_incomplete = false;
	note_in_switches(ar, ar->context->published);
	job = job_of_routing(ar, AR_PROGRAM);
	if (job)
		job->reread = ar->reread;
	ar->completed = job != NULL;
	return job;
}

static void routed(void *state)
{
	struct ar *ar = state;
	struct osm_opensm *osm = ar->context->osm;
	struct ar_job *job;

	if (is_foreign(ar))
		return;
	if (ar->started) /* a repair that ended after `published` says nothing about these tables */
		routing_release(ar_worker_take_repaired(&ar->worker));
	if (!ar->context->published || !ar->settings.config.enable)
		note_in_switches(ar, NULL);
	cl_plock_acquire(&osm->lock);
	job = next_job(ar);
	cl_plock_release(&osm->lock);
	if (job)
		post(ar, job);
	ar->active = ar->context->published && ar->settings.config.enable;
}

static void take_repair_job(struct ar *ar, struct ar_job *job)
{
	writer_lock(ar->context->writer);
	struct ar_job *former = ar->repair_job;
	ar->repair_job = job;
	writer_unlock(ar->context->writer);
	ar_job_free(former);
}

/* After the programming, once links are active. If fast recovery is not wanted, and was not, hosts that are being told
 * their mask need not make room for it. */
static void post_recovery(struct ar *ar)
{
	struct osm_opensm *osm = ar->context->osm;
	struct ar_job *job = NULL;
	const bool was = ar->recovers;

	ar->recovers = ar->settings.config.settings.recovery != HD_AR_RECOVERY_OFF;
	if (!was && !ar->recovers)
		return;
	cl_plock_acquire(&osm->lock);
	if (ar->started && ar->active && ar->completed && ar->context->published)
		job = job_of_routing(ar, AR_RECOVER);
	cl_plock_release(&osm->lock);
	if (job)
		ar_worker_post_later(&ar->worker, job);
}

static void settled(void *state)
{
	struct ar *ar = state;

	ar->wanted = ar->settings.config.enable;
	post_recovery(ar);
	take_repair_job(ar, ar->started ? job_new(ar, AR_REPAIR) : NULL);
}

static const char *forbids_repairs(void *state, const struct routing *routing)
{
	const struct ar *ar = state;

	return !ar->started && ar_settings_may_enable(ar->context->config, routing->adaptive)
		   ? "adaptive routing is not ready"
		   : NULL;
}

/* Whether a change of tables between sweeps has to reckon with AR. */
static bool counts(const struct ar *ar)
{
	return ar->started && (ar->wanted || may_be_on(ar));
}

/* A copy of the job; NULL: all know that adaptive routing is off. */
static int copy_job(struct ar *ar, struct ar_job **out, struct hd_error *err)
{
	*out = NULL;
	if (!counts(ar))
		return 0;
	writer_lock(ar->context->writer);
	if (ar->repair_job)
		*out = ar_job_copy(ar->repair_job);
	writer_unlock(ar->context->writer);
	return *out ? 0 : hd_error_no_memory(err);
}

static int repair_begins(void *state, struct repair_change *change, struct hd_error *err)
{
	struct ar *ar = state;

	(void)err;
	if (counts(ar) && !change->strict)
		change->strict = ar->wanted ? "adaptive routing is wanted"
					    : "adaptive routing is not known to be off";
	return 0;
}

static int repair_programs(void *state, struct repair_change *change, bool *done,
			   struct hd_error *err)
{
	struct ar *ar = state;
	struct ar_job *job;
	int rc = copy_job(ar, &job, err);

	return rc || !job ? rc : ar_worker_lead(&ar->worker, job, change, done, err);
}

static void repair_ends(void *state, struct repair_change *change)
{
	struct ar *ar = state;

	(void)change;
	if (ar->started)
		ar_worker_end_repair(&ar->worker);
}

static int key_programs(void *state, struct key_change *change, struct hd_error *err)
{
	struct ar *ar = state;
	struct ar_job *job;

	if (!ar->started || !ar_worker_wants_key(&ar->worker))
		return 0;
	int rc = copy_job(ar, &job, err);
	return rc || !job ? rc : ar_worker_program_key(&ar->worker, job, change, err);
}

static void key_ends(void *state, struct key_change *change)
{
	struct ar *ar = state;

	if (ar->started)
		ar_worker_end_key(&ar->worker, change);
}

static void status(void *state, struct status_report *report)
{
	struct ar *ar = state;
	struct ar_figures figures = {.known = false};
	struct adaptive_view view;

	adaptive_look(ar->context->adaptive, &view);
	if (view.state == ADAPTIVE_FOREIGN)
		figures.foreign = true;
	else if (ar->started)
		figures = ar_worker_figures(&ar->worker);
	adaptive_view_release(&view);
	ar_figures_add(&figures, report);
}

static void destroy(void *state)
{
	struct ar *ar = state;

	if (ar->started)
		ar_worker_end(&ar->worker, END_MS);
	ar_job_free(ar->repair_job);
	free(ar->asked);
	routing_release(ar->in_switches);
	ar_settings_release(&ar->settings);
	free(ar);
}

const struct part ar_part = {
    .name = "ar",
    .create = create,
    .sweep_begins = sweep_begins,
    .discovered = discovered,
    .refused = refused,
    .published = published,
    .sweep_programs = sweep_programs,
    .routed = routed,
    .settled = settled,
    .forbids_repairs = forbids_repairs,
    .repair_begins = repair_begins,
    .repair_programs = repair_programs,
    .repair_ends = repair_ends,
    .key_programs = key_programs,
    .key_ends = key_ends,
    .status = status,
    .destroy = destroy,
};
