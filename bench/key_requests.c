/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Request/done pairs a second of heddle-keyd over its unix socket:
 *
 *	heddle-bench-requests KEYD [CONNECTIONS [SECONDS [KIND [SOCKET]]]]
 *
 * Starts that heddle-keyd in a folder of its own. SOCKET: the key channel of an OpenSM that manages
 * the fat tree XGFT(3;12,12,12;1,12,12), as bench/key_requests starts it. Without SOCKET this program
 * is the subnet manager: it answers each key at once and programs nothing, so the figure is that of
 * the daemon alone. Each connection has a job of 12 hosts. KIND:
 *
 *	rewrite		two phases in turn with one offset; each request sends another key (default)
 *	same		one phase again and again; each request sends the key that is in force
 *	offset		two phases in turn, each with an offset of its own; no request sends a key
 *
 * Clients and manager share this process and its one thread.
 */
#include "key_requests_manager.h"
#include "stopwatch.h"

#include <errno.h>
#include <event2/event.h>
#include <heddle/fabric/builder.h>
#include <heddle/fabric/generate.h>
#include <heddle/fabric/write.h>
#include <heddle/keyd/channel.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTS 12u /* of a job */
#define JOBS_MAX 144u
#define SAMPLES_MAX 4000000u

enum step { READY, PLACE, REQUEST, DONE };

struct client {
	struct bench *bench;
	int descriptor;
	struct event *event;
	unsigned number, phase;
	enum step step;
	double begin, pair_begin, request_time; /* milliseconds */
	char answer[65536];
	size_t length;
};

struct bench {
	struct event_base *base;
	struct key_requests_manager *manager; /* NULL: a real one */
	const char *manager_socket;
	bool rewrites, offsets; /* two phases; each with an offset */
	char folder[64], socket_path[96];
	pid_t daemon;
	unsigned connections, placed;
	double seconds, start; /* start: of the measurement, milliseconds; 0: not yet */
	struct client *clients;
	double *request_times, *pair_times; /* [count] milliseconds */
	size_t count;
};

static void die(const char *what)
{
	fprintf(stderr, "heddle-bench-requests: %s\n", what);
	exit(EXIT_FAILURE);
}

/* ---- calls ---- */

static void send_text(struct client *client, const char *method, const char *call, const char *body)
{
	char text[2048];
	int length = snprintf(text, sizeof(text),
			      "%s /v1/jobs/%u%s HTTP/1.1\r\nContent-Length: %zu\r\n\r\n%s", method,
			      client->number, call, strlen(body), body);

	if (write(client->descriptor, text, (size_t)length) != length)
		die("cannot send");
}

static void place(struct client *client)
{
	char body[1024];
	int at = snprintf(body, sizeof(body), "{\"pattern\":\"stencil1d\",\"hosts\":[");

	/* hosts of different leaves */
	for (unsigned i = 0; i < HOSTS; i++)
		at += snprintf(body + at, sizeof(body) - (size_t)at, "%s\"0x%x\"", i ? "," : "",
			       0x100000 + 16 * (client->number + i * JOBS_MAX));
	snprintf(body + at, sizeof(body) - (size_t)at, "]%s}",
		 client->bench->offsets ? ",\"mode\":\"offset\"" : "");
	client->step = PLACE;
	send_text(client, "PUT", "", body);
}

/* Asks whether heddle-keyd has a fabric. */
static void ask_ready(evutil_socket_t unused, short what, void *context)
{
	static const char question[] = "GET /v1/fabric HTTP/1.1\r\n\r\n";
	struct client *client = context;

	(void)unused;
	(void)what;
	if (write(client->descriptor, question, sizeof(question) - 1) < 0)
		die("cannot send");
}

static void take_ready(struct client *client)
{
	const struct timeval soon = {.tv_usec = 100000};
	struct bench *bench = client->bench;

	if (strstr(client->answer, "\"state\":\"ready\""))
		for (unsigned i = 0; i < bench->connections; i++)
			place(&bench->clients[i]);
	else
		event_base_once(bench->base, -1, EV_TIMEOUT, ask_ready, client, &soon);
}

static void call_phase(struct client *client, enum step step)
{
	char body[64];

	snprintf(body, sizeof(body), "{\"step\":\"0\",\"phase\":%u}", client->phase);
	client->step = step;
	client->begin = stopwatch_now();
	if (step == REQUEST)
		client->pair_begin = client->begin;
	send_text(client, "POST", step == REQUEST ? "/request" : "/done", body);
}

static void take_placed(struct bench *bench)
{
	if (++bench->placed < bench->connections)
		return;
	bench->start = stopwatch_now();
	for (unsigned i = 0; i < bench->connections; i++)
		call_phase(&bench->clients[i], REQUEST);
}

static void take_done(struct client *client)
{
	struct bench *bench = client->bench;
	double now = stopwatch_now();

	if (bench->count < SAMPLES_MAX) {
		bench->request_times[bench->count] = client->request_time;
		bench->pair_times[bench->count++] = now - client->pair_begin;
	}
	client->phase ^= bench->rewrites || bench->offsets;
	if (now - bench->start >= bench->seconds * 1000)
		event_base_loopbreak(bench->base);
	else
		call_phase(client, REQUEST);
}

static void take_answer(struct client *client)
{
	if (strncmp(client->answer, "HTTP/1.1 200", 12))
		die(client->answer);
	switch (client->step) {
	case READY:
		take_ready(client);
		break;
	case PLACE:
		take_placed(client->bench);
		break;
	case REQUEST:
		if (!strstr(client->answer, "\"ready\":true"))
			die(client->answer);
		client->request_time = stopwatch_now() - client->begin;
		call_phase(client, DONE);
		break;
	case DONE:
		take_done(client);
		break;
	}
}

/* Whether the answer has come completely. */
static bool is_complete(const struct client *client)
{
	const char *head = strstr(client->answer, "\r\n\r\n");
	const char *length = strstr(client->answer, "Content-Length: ");

	return head && length && length < head &&
	       client->length >=
		   (size_t)(head + 4 - client->answer) + strtoul(length + 16, NULL, 10);
}

static void on_answer(evutil_socket_t descriptor, short what, void *context)
{
	struct client *client = context;
	ssize_t got = read(descriptor, client->answer + client->length,
			   sizeof(client->answer) - 1 - client->length);

	(void)what;
	if (got <= 0) {
		if (got < 0 && errno == EAGAIN)
			return;
		die("heddle-keyd has closed a connection");
	}
	client->length += (size_t)got;
	client->answer[client->length] = '\0';
	if (!is_complete(client))
		return;
	client->length = 0;
	take_answer(client);
}

/* ---- start and end ---- */

static char *make_netlist(size_t *length)
{
	const struct hd_generator *generator = hd_generator_find("xgft");
	struct hd_options *options = hd_options_new(generator->options, generator->option_count);
	struct hd_fabric *fabric = NULL, *spread = NULL;
	struct hd_error err = {""};
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	if (!stream || hd_options_set(options, "children", "12,12,12", &err) ||
	    hd_options_set(options, "parents", "1,12,12", &err) ||
	    generator->generate(options, &fabric, &err) ||
	    hd_fabric_assign_lids(fabric, 2, &spread, &err) ||
	    hd_fabric_write_netlist(spread, stream, &err) || fclose(stream))
		die(err.text);
	hd_fabric_free(spread);
	hd_fabric_free(fabric);
	hd_options_free(options);
	return text;
}

static int connect_once(const struct bench *bench)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, bench->socket_path, sizeof(address.sun_path) - 1);
	if (descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof(address))) {
		close(descriptor);
		return -1;
	}
	return descriptor;
}

static void start_daemon(struct bench *bench, const char *program)
{
	char path[96];
	FILE *config;

	snprintf(path, sizeof(path), "%s/heddle.conf", bench->folder);
	config = fopen(path, "w");
	if (!config)
		die("cannot write heddle.conf");
	fprintf(config,
		"[keyd]\nsocket = %s\nstate = %s/state\nsm_sockets = %s\nscheduler_uids = %u\n",
		bench->socket_path, bench->folder, bench->manager_socket, (unsigned)getuid());
	fclose(config);
	bench->daemon = fork();
	if (!bench->daemon) {
		execl(program, program, "--config", path, (char *)NULL);
		_exit(127);
	}
}

static void on_ready(evutil_socket_t unused, short what, void *context)
{
	struct bench *bench = context;

	(void)unused;
	(void)what;
	for (unsigned i = 0; i < bench->connections; i++) {
		struct client *client = &bench->clients[i];

		*client =
		    (struct client){.bench = bench, .descriptor = connect_once(bench), .number = i};
		if (client->descriptor < 0)
			die("cannot connect to heddle-keyd");
		evutil_make_socket_nonblocking(client->descriptor);
		client->event = event_new(bench->base, client->descriptor, EV_READ | EV_PERSIST,
					  on_answer, client);
		event_add(client->event, NULL);
	}
	ask_ready(-1, 0, &bench->clients[0]);
}

/* Microseconds of processor time per pair, of this process or of the daemon after its end. */
static double cpu_per_pair(const struct bench *bench, int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)) /
	       (double)bench->count;
}

static void report(struct bench *bench)
{
	double elapsed = (stopwatch_now() - bench->start) / 1000;
	double median_request, median_pair;

	if (!bench->count)
		die("no pair was measured");
	median_request = stopwatch_median(bench->request_times, bench->count);
	median_pair = stopwatch_median(bench->pair_times, bench->count);
	printf("%u connections, %.1f s, %s\n", bench->connections, elapsed,
	       bench->manager ? "a subnet manager that answers at once and programs nothing"
			      : "OpenSM");
	printf("request/done pairs a second: %.0f\n", (double)bench->count / elapsed);
	/* stopwatch_median() has sorted both */
	printf("request: median %.2f ms, 99%% %.2f ms; pair: median %.2f ms, 99%% %.2f ms\n",
	       median_request, bench->request_times[bench->count * 99 / 100], median_pair,
	       bench->pair_times[bench->count * 99 / 100]);
	if (bench->manager)
		printf("keys that the subnet manager got: %llu, with %.0f entries each\n",
		       (unsigned long long)key_requests_manager_keys(bench->manager),
		       key_requests_manager_entries(bench->manager));
	kill(bench->daemon, SIGTERM);
	waitpid(bench->daemon, NULL, 0);
	printf("processor time for a pair: heddle-keyd %.0f us in all its threads, clients%s %.0f "
	       "us\n",
	       cpu_per_pair(bench, RUSAGE_CHILDREN), bench->manager ? " and subnet manager" : "",
	       cpu_per_pair(bench, RUSAGE_SELF));
}

static void stop(struct bench *bench)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", bench->folder);
	if (system(command))
		fprintf(stderr, "heddle-bench-requests: %s is left\n", bench->folder);
}

static void take_arguments(struct bench *bench, int argc, char **argv)
{
	const char *kind = argc > 4 ? argv[4] : "rewrite";

	if (argc > 2)
		bench->connections = (unsigned)strtoul(argv[2], NULL, 10);
	if (argc > 3)
		bench->seconds = strtod(argv[3], NULL);
	bench->rewrites = !strcmp(kind, "rewrite");
	bench->offsets = !strcmp(kind, "offset");
	bench->manager_socket = argc > 5 ? argv[5] : NULL;
	if (argc < 2 || argc > 6 || !bench->connections || bench->connections > JOBS_MAX ||
	    bench->seconds <= 0 || (!bench->rewrites && !bench->offsets && strcmp(kind, "same")))
		die("usage: heddle-bench-requests KEYD [CONNECTIONS (1..144) [SECONDS "
		    "[rewrite|same|offset [SOCKET]]]]");
}

static void start_manager(struct bench *bench)
{
	static char path[96];
	size_t length = 0;
	char *netlist = make_netlist(&length);

	snprintf(path, sizeof(path), "%s/sm.sock", bench->folder);
	bench->manager_socket = path;
	bench->manager = key_requests_manager_new(bench->base, path, netlist, length);
	if (!bench->manager)
		die("no memory");
}

int main(int argc, char **argv)
{
	struct bench bench = {
	    .folder = "/tmp/keyrequests.XXXXXX", .connections = 128, .seconds = 5};
	const struct timeval settle = {.tv_sec = 1};

	take_arguments(&bench, argc, argv);
	if (!mkdtemp(bench.folder))
		die("cannot make a folder");
	snprintf(bench.socket_path, sizeof(bench.socket_path), "%s/keyd.sock", bench.folder);
	bench.base = event_base_new();
	bench.clients = calloc(bench.connections, sizeof(*bench.clients));
	bench.request_times = calloc(SAMPLES_MAX, sizeof(double));
	bench.pair_times = calloc(SAMPLES_MAX, sizeof(double));
	if (!bench.base || !bench.clients || !bench.request_times || !bench.pair_times)
		die("no memory");
	if (!bench.manager_socket)
		start_manager(&bench);
	start_daemon(&bench, argv[1]);
	event_base_once(bench.base, -1, EV_TIMEOUT, on_ready, &bench, &settle);
	event_base_dispatch(bench.base);
	report(&bench);
	stop(&bench);
	return EXIT_SUCCESS;
}
