/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric of simulated switches, and the thread of adaptive routing that programs them. OpenSM can stop it at the worst
 * moment. Stands in for the plugin's port and clock. Include after <cmocka.h>, in one file of a program. */
#ifndef AR_TASKS_TESTING_H
#define AR_TASKS_TESTING_H

#include "../ar_manager/program_testing.h"
#include "ar_held.h"
#include "ar_job_testing.h"
#include "ar_key.h"
#include "ar_report.h"
#include "ar_tasks.h"
#include "ar_worker.h"
#include "key_change.h"
#include "monotonic.h"
#include "no_switches.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "routing.h"
#include "simulated_port.h"

#include <heddle/change/steps.h>
#include <heddle/mad/umad_port.h>

#define SWITCHES_MOST 64u

struct scene {
	struct hd_fabric *fabric;
	struct simulated_port port;
	struct fake_switch switches[SWITCHES_MOST];
	struct osm_opensm osm;
	struct opensm_log log;
	struct part_context context;
	struct writer writer;
	struct ar_worker worker;
	struct ar_job newer; /* that stops the job being done */
	struct ar_tasks *tasks;
	struct hd_smp_limits limits;
	enum hd_ar_algorithm algorithm;
	unsigned opened; /* times that the port was */
	uint32_t written; /* the last step whose forwarding tables were written */
	uint32_t refused; /* one whose tables are not; 0: none */
	uint32_t
	    unreachable; /* number of a switch, from 1, to which nothing can be sent; 0: none */
	/* When a MAD like that comes, OpenSM stops the job, or the port breaks. 0: never. */
	uint32_t stop_at, break_at;
	bool of_set;
	unsigned stop_after; /* so many of them */
};

static struct scene *in_use;

int hd_umad_port_open(const struct hd_umad_choice *choice, struct hd_umad_port **port,
		      struct hd_error *err)
{
	(void)choice;
	(void)err;
	in_use->opened++;
	in_use->port.broken = 0;
	*port = (struct hd_umad_port *)in_use;
	return 0;
}

void hd_umad_port_close(struct hd_umad_port *port)
{
	(void)port;
}

const struct hd_smp_port *hd_umad_port_smp(const struct hd_umad_port *port)
{
	return &((const struct scene *)port)->port.port;
}

/* The plugin's clock is that of the simulated port, so that no test depends on the machine. */
double monotonic_ms(void)
{
	return (double)in_use->port.now;
}

struct timespec monotonic_timespec(double milliseconds)
{
	return (struct timespec){.tv_sec = (time_t)(milliseconds / 1000)};
}

void monotonic_condition(pthread_cond_t *condition)
{
	pthread_cond_init(condition, NULL);
}

static inline uint16_t answer(void *context, uint32_t node, const struct hd_smp *smp, uint8_t *data)
{
	struct scene *scene = context;
	struct fake_mad asked = {.set = smp->method == HD_SMP_SET,
				 .mad = {.attribute = smp->attribute, .modifier = smp->modifier}};

	if (scene->of_set == asked.set && smp->attribute == scene->stop_at && !scene->stop_after--)
		scene->worker.next = &scene->newer;
	if (scene->of_set == asked.set && smp->attribute == scene->break_at)
		scene->port.broken = -EIO;
	memcpy(asked.mad.data, smp->data, HD_AR_DATA);
	fake_do(&scene->switches[node], &asked, data);
	return 0;
}

/* In place of the sweeper thread. */
static inline int write_tables(void *caller, const struct hd_ar_steps *steps, uint32_t step,
			       struct hd_error *err)
{
	(void)caller;
	assert_true(step && step <= hd_ar_steps_count(steps));
	if (step == in_use->refused)
		return hd_error_set(err, -EIO, "a switch did not take its forwarding table");
	assert_int_equal(step, in_use->written + 1);
	in_use->written = step;
	return 0;
}

static inline void begin(struct scene *scene, struct hd_fabric *fabric)
{
	memset(scene, 0, sizeof(*scene));
	in_use = scene;
	logged[0] = '\0';
	scene->fabric = fabric;
	assert_true(fabric->switch_count <= SWITCHES_MOST);
	assert_true(simulated_port_start(&scene->port, fabric->switch_count, 1));
	scene->port.answer = answer;
	scene->port.context = scene;
	scene->osm.subn.sm_state = IB_SMINFO_STATE_MASTER;
	scene->context = (struct part_context){.osm = &scene->osm, .writer = &scene->writer};
	writer_init(&scene->writer, &scene->osm);
	scene->worker = (struct ar_worker){.caller = {.writer = &scene->writer,
						      .log = &scene->log,
						      .go_on = ar_worker_go_on,
						      .write_tables = write_tables,
						      .note_told = ar_worker_note_told},
					   .osm = &scene->osm};
	scene->limits = (struct hd_smp_limits)HD_SMP_LIMITS_DEFAULT;
	scene->algorithm = HD_AR_TREE;
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		scene->switches[i].able = true;
		scene->switches[i].info = (struct hd_ar_info){
		    .group_cap = 100, .sub_grps_supported = 2, .by_sl_cap = 1, .by_transp_cap = 1};
	}
	scene->tasks = ar_tasks_new(&scene->worker.caller);
	assert_non_null(scene->tasks);
}

static inline void end(struct scene *scene)
{
	ar_tasks_free(scene->tasks);
	writer_release(&scene->writer);
	simulated_port_end(&scene->port);
	hd_fabric_free(scene->fabric);
}

/* A routing of the fabric without some of its links. */
static inline struct routing *routing_new(const struct hd_fabric *fabric, const char *engine,
					  uint64_t seed)
{
	struct routing *routing = calloc(1, sizeof(*routing));

	assert_non_null(routing);
	routing->holders = 1;
	CHECK(hd_fabric_remove_links(fabric, seed ? 3 : 0, seed, &routing->fabric, &err));
	routing->routes = route(engine, routing->fabric);
	return routing;
}

static inline struct ar_job job_of(const struct scene *scene, enum ar_task task,
				   struct routing *routing, struct routing *before)
{
	struct ar_job job = plain_job(task);

	job.routing = routing;
	job.before = before;
	job.limits = scene->limits;
	job.settings.config.algorithm = scene->algorithm;
	return job;
}

/* Does a job; true: it was stopped. */
static inline bool do_job(struct scene *scene, struct ar_job *job)
{
	struct hd_smp_address addresses[SWITCHES_MOST];
	bool stopped;

	for (uint32_t i = 0; i < scene->fabric->switch_count; i++)
		addresses[i] = i == scene->unreachable - 1
				   ? (struct hd_smp_address){.hop_count = HD_SMP_HOPS + 1}
				   : simulated_address(i);
	job->addresses = job->routing ? addresses : NULL;
	ar_tasks_do(scene->tasks, job);
	stopped = scene->worker.next != NULL;
	scene->worker.next = NULL;
	scene->stop_at = scene->break_at = 0;
	return stopped;
}

static inline bool program(struct scene *scene, struct routing *routing, bool fresh)
{
	struct ar_job job = job_of(scene, AR_PROGRAM, routing, NULL);

	job.fresh = fresh;
	return do_job(scene, &job);
}

/* Does a job AR_PREPARE. It is known what the switches hold if it is known whose tables these are. */
static inline bool do_prepare(struct scene *scene, struct ar_job *job)
{
	const struct routing *before = job->before;
	struct hd_routes *tables = NULL;

	if (before)
		CHECK(hd_routes_rebase(before->fabric, before->routes, job->routing->fabric,
				       &tables, &err));
	job->tables = tables;
	scene->written = 0;
	const bool stopped = do_job(scene, job);
	hd_routes_free(tables);
	return stopped;
}

static inline bool prepare(struct scene *scene, struct routing *routing, struct routing *before)
{
	struct ar_job job = job_of(scene, AR_PREPARE, routing, before);

	return do_prepare(scene, &job);
}

/* What is in force; *plan lives as long as the tasks have it. */
static inline enum adaptive_state adaptive_of(const struct scene *scene, struct hd_ar_plan **plan)
{
	struct adaptive adaptive;
	struct adaptive_view view;

	adaptive_state_init(&adaptive);
	ar_tasks_note_adaptive(scene->tasks, &adaptive);
	adaptive_look(&adaptive, &view);
	const enum adaptive_state state = view.state;
	*plan = state == ADAPTIVE_ON ? view.plan : NULL;
	adaptive_view_release(&view);
	adaptive_state_release(&adaptive);
	return state;
}

static inline uint32_t count_on(const struct scene *scene)
{
	uint32_t on = 0;

	for (uint32_t i = 0; i < scene->fabric->switch_count; i++)
		on += scene->switches[i].info.enabled;
	return on;
}

static inline struct hd_fabric *tree(void)
{
	return generate("xgft", "children=3,4,4 parents=1,4,4");
}

#endif
