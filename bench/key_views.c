/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long requests to heddle-keyd take while others look at everything that it shows:
 *
 *	heddle-bench-views KEYD [SECONDS]
 *
 * A fat tree with 11,664 hosts and a subnet manager that answers each key at once and programs nothing. There are 960
 * jobs of 12 hosts with a phase in force each, and one job with 65,536 phases. A scheduler, and the owner of a job who
 * is none, make one request after the other: one that begins another phase, with a key for the subnet manager and a
 * row for the database, and one for the same phase again, which the event thread answers at once. In every other
 * second 64 connections of four users call GET for all views all the time; half of these connections ask only for the
 * longest ones. If this program is run as root, the users are others than the requesters.
 *
 * Prints the times of requests without and with the GETs, each also without the time that heddle-keyd's event thread
 * and the requester have waited for a processor meanwhile.
 */
#include "key_requests_manager.h"
#include "key_site.h"
#include "stopwatch.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTS 12u /* of a job */
#define JOBS 960u
#define APART 972u /* hosts of a job */
#define LOOKERS 64u
#define LOOKER_USERS 4u
#define FIRST_LOOKER 65500u
#define OWNER 12001u
#define BIG_PHASES 65536u
#define SAMPLES_MAX 400000u

enum who { BY_SCHEDULER, BY_OWNER, REQUESTERS };

enum kind {
	BEGINS,
	AGAIN,
	KINDS
}; /* of a request: begins a phase; asks for one that is in force */

struct sample {
	double ms[KINDS], waited[KINDS];
	bool loud; /* with GETs */
};

/* Between the processes. */
struct shared {
	atomic_bool loud, over;
	atomic_ulong views[8], refused;
	unsigned count[REQUESTERS];
	struct sample samples[REQUESTERS][SAMPLES_MAX];
};

static const char *const views[] = {"/v1/links?all=1", "/v1/jobs/big", "/v1/jobs", "/metrics",
				    "/v1/links",       "/v1/fabric",   "/healthz", "/v1/jobs/1"};

#define VIEWS ((unsigned)(sizeof(views) / sizeof(*views)))

static struct shared *shared;
static struct key_site site;

/* ---- requesters ---- */

static char *place_body(unsigned job, unsigned uid)
{
	char *body = malloc(2048);
	int at = snprintf(body, 2048, "{\"pattern\":\"stencil1d\",\"uid\":%u,\"hosts\":[", uid);

	for (unsigned i = 0; i < HOSTS; i++)
		at += snprintf(body + at, 2048 - (size_t)at, "%s\"0x%x\"", i ? "," : "",
			       0x100000 + 16 * (job + i * APART));
	snprintf(body + at, 2048 - (size_t)at, "]}");
	return body;
}

static char *big_body(void)
{
	char *body = malloc(BIG_PHASES * 10 + 200), *end = body;

	end += sprintf(body, "{\"hosts\":[\"0x%x\",\"0x%x\"],\"phases\":[", 0x100000 + 16 * 970,
		       0x100000 + 16 * (970 + APART));
	for (unsigned i = 0; i < BIG_PHASES; i++)
		end += sprintf(end, "%s[[0,1]]", i ? "," : "");
	sprintf(end, "]}");
	return body;
}

static void call(struct key_site_stream *stream, const char *method, const char *path,
		 const char *body)
{
	if (key_site_call(stream, method, path, body) != 200)
		key_site_die(stream->answer);
}

static void call_phase(struct key_site_stream *stream, unsigned job, const char *name,
		       unsigned phase)
{
	char path[64], body[64];

	snprintf(path, sizeof(path), "/v1/jobs/%u/%s", job, name);
	snprintf(body, sizeof(body), "{\"step\":\"0\",\"phase\":%u}", phase);
	call(stream, "POST", path, body);
}

static void fill(void)
{
	struct key_site_stream stream = key_site_open(&site);
	char path[64], *body;

	for (unsigned job = 0; job < JOBS; job++) {
		snprintf(path, sizeof(path), "/v1/jobs/%u", job);
		body = place_body(job, job ? (unsigned)getuid() : OWNER);
		call(&stream, "PUT", path, body);
		call_phase(&stream, job, "request", 0);
		free(body);
	}
	body = big_body();
	call(&stream, "PUT", "/v1/jobs/big", body);
	free(body);
	close(stream.descriptor);
}

/* Milliseconds that a thread has waited for a processor. */
static double waited(const char *path)
{
	unsigned long long ran = 0, delay = 0;
	FILE *file = fopen(path, "r");

	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu", &ran, &delay) != 2)
		delay = 0;
	fclose(file);
	return (double)delay / 1e6;
}

static void time_request(struct key_site_stream *stream, const char *daemon, unsigned job,
			 unsigned phase, double *ms, double *delay)
{
	double before = waited(daemon) + waited("/proc/thread-self/schedstat");
	double begin = stopwatch_now();

	call_phase(stream, job, "request", phase);
	*ms = stopwatch_now() - begin;
	*delay = waited(daemon) + waited("/proc/thread-self/schedstat") - before;
}

static void request(enum who who)
{
	struct key_site_stream stream = key_site_open(&site);
	unsigned job = who == BY_OWNER ? 0 : 1, phase = 1;
	char daemon[64];

	snprintf(daemon, sizeof(daemon), "/proc/%d/task/%d/schedstat", site.daemon, site.daemon);
	while (!shared->over && shared->count[who] < SAMPLES_MAX) {
		struct sample *sample = &shared->samples[who][shared->count[who]];

		sample->loud = shared->loud;
		for (unsigned kind = 0; kind < KINDS; kind++)
			time_request(&stream, daemon, job, phase, &sample->ms[kind],
				     &sample->waited[kind]);
		shared->count[who] += sample->loud == shared->loud;
		call_phase(&stream, job, "done", phase);
		phase ^= 1;
	}
}

/* ---- lookers ---- */

static void look(unsigned number)
{
	struct key_site_stream stream = key_site_open(&site);

	if (nice(19) < 0 && errno)
		key_site_die("nice");
	for (unsigned i = number; !shared->over; i++) {
		unsigned view = i % (number % 2 ? 2 : VIEWS);

		if (!shared->loud) {
			usleep(2000);
			continue;
		}
		if (key_site_call(&stream, "GET", views[view], NULL) == 200)
			shared->views[view]++;
		else
			shared->refused++;
	}
}

/* ---- the whole ---- */

static pid_t start(unsigned uid)
{
	pid_t child = fork();

	if (child < 0)
		key_site_die("fork");
	if (!child && !getuid() && uid && setuid(uid))
		key_site_die("setuid");
	return child;
}

static void start_manager(void)
{
	struct event_base *base;

	site.manager = start(0);
	if (site.manager)
		return;
	base = event_base_new();
	if (!key_requests_manager_new(base, site.manager_socket, site.netlist, site.length))
		key_site_die("no subnet manager");
	event_base_dispatch(base);
	_exit(0);
}

static void start_clients(void)
{
	for (unsigned who = 0; who < REQUESTERS; who++)
		if (!start(who == BY_OWNER ? OWNER : 0)) {
			request(who);
			_exit(0);
		}
	for (unsigned i = 0; i < LOOKERS; i++)
		if (!start(FIRST_LOOKER + i % LOOKER_USERS)) {
			look(i);
			_exit(0);
		}
}

static const char *const who_names[] = {"scheduler", "owner"};
static const char *const kind_names[] = {"begins", "again"};

static void report_times(enum who who, enum kind kind, bool loud, bool alone)
{
	double *times = malloc((SAMPLES_MAX + 1) * sizeof(*times)), median;
	size_t count = 0, slow = 0;

	for (unsigned i = 0; i < shared->count[who]; i++) {
		const struct sample *sample = &shared->samples[who][i];
		double ms = sample->ms[kind] - (alone ? sample->waited[kind] : 0);

		if (sample->loud != loud)
			continue;
		times[count++] = ms > 0 ? ms : 0;
		slow += ms > 20;
	}
	if (!count)
		key_site_die("no request was measured");
	median = stopwatch_median(times, count);
	printf(
	    "%-9s %-6s %-12s %-14s %6zu requests: median %5.2f, 99%% %6.2f, longest %6.2f ms; %zu "
	    "above 20 ms\n",
	    who_names[who], kind_names[kind], loud ? "with GETs" : "without GETs",
	    alone ? "but the waits" : "", count, median, times[count * 99 / 100], times[count - 1],
	    slow);
	free(times);
}

static void report(void)
{
	for (unsigned who = 0; who < REQUESTERS; who++)
		for (unsigned i = 0; i < 8; i++)
			report_times(who, i / 4, i % 2, i / 2 % 2);
	for (unsigned i = 0; i < VIEWS; i++)
		printf("%s %lu, ", views[i], shared->views[i]);
	printf("refused %lu\n", shared->refused);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 20;

	if (argc < 2 || argc > 3 || seconds < 2)
		key_site_die("usage: heddle-bench-views KEYD [SECONDS]");
	signal(SIGPIPE, SIG_IGN);
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		key_site_die("no memory");
	key_site_make(&site, "18,18,36", "1,18,18");
	start_manager();
	key_site_start(&site, argv[1]);
	fill();
	start_clients();
	for (double second = 0; second < seconds; second++) {
		shared->loud = (int)second % 2;
		sleep(1);
	}
	shared->over = true;
	sleep(1);
	report();
	key_site_end(&site);
	return EXIT_SUCCESS;
}
