/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle-keyd: see heddle-keyd(8). Starts everything, runs until a signal ends it, and stops. */
#include "keyd_attempt.h"
#include "keyd_calls.h"
#include "keyd_fabric.h"
#include "keyd_program.h"
#include "keyd_rekey.h"
#include "keyd_state.h"
#include "keyd_view.h"

#include <errno.h>
#include <event2/util.h>
#include <fcntl.h>
#include <getopt.h>
#include <heddle/base/error.h>
#include <heddle/base/place.h>
#include <heddle/base/plain.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* What systemd and heddle-keyd say to each other: readiness, and sockets that are open already. */

/* Number of sockets that this process was given, from descriptor KEYD_SYSTEMD_FIRST on (LISTEN_FDS).
 * Clears the environment variables. */
#define KEYD_SYSTEMD_FIRST 3

/* Sends a state such as "READY=1" to the socket in NOTIFY_SOCKET. Does nothing without one. */
static void keyd_systemd_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = path ? strlen(path) : 0;

	if (!length || length >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (descriptor < 0)
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0';
	/* nobody is to be told if systemd does not listen */
	(void)!sendto(descriptor, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(descriptor);
}

/* The sockets at which heddle-keyd listens. */

#define BACKLOG 4096

static int main_fail(const char *where, int descriptor, struct hd_error *err)
{
	int rc = errno ? -errno : -EIO;

	if (descriptor >= 0)
		close(descriptor);
	return hd_error_set(err, rc, "%s: cannot listen: %s", where, strerror(-rc));
}

/* Listens at a path that everybody may connect to. A socket that nobody serves any more is
 * replaced. Errors: -EADDRINUSE somebody serves it; -EPERM others can change its folder; the errno
 * of the socket functions. */
static int keyd_listen_unix(const char *path, int *descriptor, struct hd_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat facts;
	int listening, rc = hd_place_check_folder(path, err);

	if (rc)
		return rc;
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	/* Whether somebody accepts connections at the path. */
	int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool served =
	    probe >= 0 && !connect(probe, (const struct sockaddr *)&address, sizeof(address));
	if (probe >= 0)
		close(probe);
	if (served)
		return hd_error_set(err, -EADDRINUSE, "%s: another heddle-keyd is running", path);
	if (!lstat(path, &facts) && !S_ISSOCK(facts.st_mode))
		return hd_error_set(
		    err, -EEXIST, "%s: this is another file, not a socket: see 'socket' in [keyd]",
		    path);
	unlink(path);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(path, 0666) || listen(listening, BACKLOG))
		return main_fail(path, listening, err);
	*descriptor = listening;
	return 0;
}

/* Listens at ADDRESS:PORT. Errors: the errno of the socket functions. */
static int keyd_listen_tcp(const char *text, int *descriptor, struct hd_error *err)
{
	struct sockaddr_storage address;
	int length = sizeof(address), one = 1, listening;

	memset(&address, 0, sizeof(address));
	if (evutil_parse_sockaddr_port(text, (struct sockaddr *)&address, &length))
		return hd_error_set(err, -EINVAL, "%s: this is no address", text);
	listening = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listening < 0 || setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(listening, (struct sockaddr *)&address, (socklen_t)length) ||
	    listen(listening, BACKLOG))
		return main_fail(text, listening, err);
	*descriptor = listening;
	return 0;
}

#define DRAIN_TICK_US 20000
#define DRAIN_US 5000000u

struct run {
	struct keyd keyd;
	const char *config_path;
	struct event *signals[3];
	struct event *drain;
	uint64_t drain_end; /* microseconds */
	bool own_socket; /* to be removed at the end */
};

static void on_drain(evutil_socket_t unused, short what, void *context)
{
	struct run *run = context;

	(void)unused;
	(void)what;
	if ((run->keyd.op_count || run->keyd.checks || run->keyd.parsings ||
	     keyd_show_is_busy(run->keyd.show) || keyd_proposals_are_busy(run->keyd.proposals) ||
	     keyd_http_is_sending(run->keyd.http)) &&
	    keyd_op_now() < run->drain_end)
		return;
	event_base_loopbreak(run->keyd.base);
}

/* Takes no new calls, and ends when those under way are answered. */
static void on_end(evutil_socket_t unused, short what, void *context)
{
	struct run *run = context;
	const struct timeval tick = {.tv_usec = DRAIN_TICK_US};

	(void)unused;
	(void)what;
	if (run->keyd.draining) {
		event_base_loopbreak(run->keyd.base);
		return;
	}
	hd_log(run->keyd.log, HD_LOG_INFO, "stopping; keys that are in the switches stay there");
	keyd_systemd_notify("STOPPING=1");
	run->keyd.draining = true;
	run->drain_end = keyd_op_now() + DRAIN_US;
	keyd_http_drain(run->keyd.http);
	event_add(run->drain, &tick);
}

/* A list of scheduler_hosts that is read again. Name servers may be slow, so a worker asks them. */
struct finding {
	struct keyd_task task; /* first */
	struct keyd *keyd;
	struct keyd_origins *origins;
	struct hd_error err;
	char text[];
};

static void main_find(struct keyd_task *task)
{
	struct finding *finding = (struct finding *)task;

	if (keyd_origins_read(finding->text, &finding->origins, &finding->err))
		finding->origins = NULL;
}

static void on_found(struct keyd_task *task)
{
	struct finding *finding = (struct finding *)task;
	struct keyd *keyd = finding->keyd;

	if (keyd->finding != task) {
		keyd_origins_free(finding->origins); /* a newer list is being read */
	} else if (finding->origins) {
		keyd_origins_free(keyd->origins);
		keyd->origins = finding->origins;
		hd_log(keyd->log, HD_LOG_INFO, "read scheduler_hosts again: %s", finding->text);
	} else {
		hd_log(keyd->log, HD_LOG_ERROR, "%s; the hosts of schedulers stay as they were",
		       finding->err.text);
	}
	free(finding);
}

static void drop_finding(struct keyd_task *task)
{
	keyd_origins_free(((struct finding *)task)->origins);
	free(task);
}

static void find_origins(struct keyd *keyd, const char *text)
{
	struct finding *finding = calloc(1, sizeof(*finding) + strlen(text) + 1);

	if (!finding) {
		hd_log(keyd->log, HD_LOG_ERROR, "no memory to read scheduler_hosts again");
		return;
	}
	finding->task =
	    (struct keyd_task){.run = main_find, .finish = on_found, .drop = drop_finding};
	finding->keyd = keyd;
	strcpy(finding->text, text);
	keyd->finding = &finding->task;
	keyd_workers_submit(keyd->workers, &finding->task);
}

static int reload(struct run *run, struct hd_error *err)
{
	struct keyd *keyd = &run->keyd;
	struct keyd_config fresh;
	struct keyd_hosts *hosts;
	int rc = keyd_config_read(run->config_path, false, &fresh, err);

	if (rc)
		return rc;
	rc = keyd_hosts_read(fresh.hosts_file, &hosts, err);
	if (!rc) {
		find_origins(keyd, fresh.scheduler_hosts);
		memcpy(keyd->config->schedulers, fresh.schedulers, sizeof(fresh.schedulers));
		keyd->config->scheduler_count = fresh.scheduler_count;
		keyd_hosts_free(keyd->hosts);
		keyd->hosts = hosts;
		keyd_fabric_resolve(keyd);
	}
	keyd_config_release(&fresh);
	return rc;
}

static void on_hangup(evutil_socket_t unused, short what, void *context)
{
	struct run *run = context;
	struct hd_error err = {""};

	(void)unused;
	(void)what;
	if (reload(run, &err))
		hd_log(run->keyd.log, HD_LOG_ERROR, "%s; hosts and schedulers stay as they were",
		       err.text);
	else
		hd_log(run->keyd.log, HD_LOG_INFO,
		       "read scheduler_uids and hosts_file again: %u hosts. Other options need a "
		       "restart",
		       keyd_hosts_count(run->keyd.hosts));
}

static int add_signals(struct run *run, struct hd_error *err)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

	for (unsigned i = 0; i < 3; i++) {
		run->signals[i] = evsignal_new(run->keyd.base, numbers[i],
					       numbers[i] == SIGHUP ? on_hangup : on_end, run);
		if (!run->signals[i] || event_add(run->signals[i], NULL))
			return hd_error_no_memory(err);
	}
	run->drain = event_new(run->keyd.base, -1, EV_PERSIST, on_drain, run);
	return run->drain ? 0 : hd_error_no_memory(err);
}

static int listen_all(struct run *run, struct hd_error *err)
{
	struct keyd *keyd = &run->keyd;
	const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	int sockets = 0;

	if (process && count && atol(process) == (long)getpid())
		sockets = atoi(count);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	for (int i = 0; i < sockets; i++)
		fcntl(KEYD_SYSTEMD_FIRST + i, F_SETFD, FD_CLOEXEC);
	int given = (sockets < 0 ? 0 : sockets), descriptor = -1;
	int rc = 0;
	for (int i = 0; !rc && i < given; i++)
		rc = keyd_http_accept(keyd->http, KEYD_SYSTEMD_FIRST + i, err);
	if (!rc && !given) {
		rc = keyd_listen_unix(keyd->config->socket, &descriptor, err);
		run->own_socket = !rc;
		if (!rc)
			rc = keyd_http_accept(keyd->http, descriptor, err);
	}
	if (!rc && keyd->config->tcp) {
		rc = keyd_listen_tcp(keyd->config->tcp, &descriptor, err);
		if (!rc)
			rc = keyd_http_accept(keyd->http, descriptor, err);
	}
	return rc;
}

static void on_take(void *context, struct evhttp_request *request, const struct keyd_peer *peer)
{
	keyd_calls_take(context, request, peer);
}

static void on_dropped(void *context, int status)
{
	struct keyd *keyd = context;

	if (status >= 0 && status < (int)KEYD_METRICS_STATUSES)
		keyd->metrics.dropped[status]++;
}

/* Users who hold many connections do not keep root and schedulers from placing jobs. */
static bool is_trusted(void *context, const struct keyd_peer *peer)
{
	const struct keyd *keyd = context;

	return peer->unix_socket &&
	       (!peer->uid || keyd_config_is_scheduler(keyd->config, peer->uid));
}

/* Descriptors that are kept for root, schedulers, subnet managers and the database. */
#define DESCRIPTORS_KEPT 128u

static uint32_t connection_limit(const struct keyd_config *config)
{
	struct rlimit limit;
	rlim_t most = config->max_connections;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < most + DESCRIPTORS_KEPT)
		most = limit.rlim_cur > 2 * DESCRIPTORS_KEPT ? limit.rlim_cur - DESCRIPTORS_KEPT
							     : limit.rlim_cur / 2;
	return (uint32_t)most;
}

/* Changes of what is waited for go to the kernel once in each round, not one by one. After so many
 * events of others, or this time, those of root and schedulers that have come meanwhile are next. */
#define OTHERS_IN_A_ROW 32
#define OTHERS_US 5000

static struct event_base *new_base(void)
{
	const struct timeval longest = {.tv_usec = OTHERS_US};
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config && !event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST) &&
	    !event_config_set_max_dispatch_interval(config, &longest, OTHERS_IN_A_ROW, KEYD_OTHERS))
		base = event_base_new_with_config(config);
	if (config)
		event_config_free(config);
	if (base && event_base_priority_init(base, KEYD_PRIORITIES)) {
		event_base_free(base);
		return NULL;
	}
	return base;
}

#define AUTHENTICATORS 4u

static int start_state(struct keyd *keyd, struct hd_error *err)
{
	int rc = keyd_hosts_read(keyd->config->hosts_file, &keyd->hosts, err);

	if (!rc)
		rc = keyd_origins_read(keyd->config->scheduler_hosts, &keyd->origins, err);
	if (!rc)
		rc = keyd_store_open(keyd->config->state, &keyd->store, err);
	if (!rc)
		rc = keyd_state_load(keyd, err);
	if (!rc)
		rc = keyd_mailbox_new(keyd->base, &keyd->mailbox, err);
	if (!rc)
		rc = keyd_store_start(keyd->store, keyd->base, keyd->mailbox, err);
	if (!rc) {
		rc = keyd_workers_new(keyd->mailbox, keyd->config->threads, &keyd->workers, err);
		if (!rc)
			rc = keyd_workers_new(keyd->mailbox, AUTHENTICATORS, &keyd->authenticators,
					      err);
		if (!rc)
			rc = keyd_workers_new(keyd->mailbox, 1, &keyd->writers, err);
		if (!rc)
			rc = keyd_proposals_new(keyd, &keyd->proposals, err);
	}
	return rc;
}

static int start_network(struct run *run, struct hd_error *err)
{
	struct keyd *keyd = &run->keyd;
	const struct keyd_http_hooks http_hooks = {on_take, on_dropped, is_trusted, keyd};
	const struct keyd_http_limits limits = {
	    .connections = connection_limit(keyd->config),
	    .user_connections = keyd->config->max_user_connections,
	    .address_connections = keyd->config->max_address_connections,
	    .large_answers = keyd->config->max_large_answers,
	    .patience_s = keyd->config->patience_s};
	const struct keyd_manager_hooks manager_hooks = {.fabric = keyd_fabric_take,
							 .held = keyd_program_held,
							 .broken = keyd_rekey_broken,
							 .changed = keyd_fabric_changed,
							 .context = keyd};
	int rc = keyd_managers_new(keyd->base, keyd->config, keyd->log, &manager_hooks,
				   keyd_program_result, &keyd->managers, err);

	if (!rc)
		rc = keyd_http_new(keyd->base, &limits, &http_hooks, &keyd->http, err);
	if (!rc)
		rc = keyd_show_new(keyd, &keyd->show, err);
	if (!rc)
		rc = listen_all(run, err);
	if (!rc)
		rc = keyd_rekey_start(keyd, err);
	return rc ? rc : add_signals(run, err);
}

static void main_stop(struct run *run)
{
	struct keyd *keyd = &run->keyd;

	/* first: the next heddle-keyd makes its own as soon as the file of keys is closed */
	if (run->own_socket)
		unlink(keyd->config->socket);
	keyd_workers_free(keyd->workers);
	keyd_workers_free(keyd->authenticators);
	keyd_workers_free(keyd->writers);
	keyd_proposals_stop(keyd->proposals);
	keyd_store_close(keyd->store);
	keyd_mailbox_drop(keyd->mailbox);
	keyd_managers_free(keyd->managers);
	keyd_http_free(keyd->http);
	keyd_show_free(keyd->show);
	keyd_proposals_free(keyd->proposals);
	if (keyd->view)
		keyd_fabric_release(keyd);
	/* What still waits for workers or managers is dropped; it was not answered. */
	while (!TAILQ_EMPTY(&keyd->jobs.list)) {
		struct keyd_job *job = TAILQ_FIRST(&keyd->jobs.list);
		while (!TAILQ_EMPTY(&job->ops)) {
			struct keyd_op *op = TAILQ_FIRST(&job->ops);
			TAILQ_REMOVE(&job->ops, op, link);
			event_del(&op->timer);
			hd_arena_release(&op->layout.arena);
			keyd_attempt_end(op);
			if (op->drop)
				op->drop(op);
			free(op->call);
			free(op->text);
			free(op);
		}
		keyd_job_free(&keyd->jobs, job);
	}
	keyd_user_free_all(&keyd->jobs.users);
	keyd_tokens_release(&keyd->tokens);
	keyd_hosts_free(keyd->hosts);
	keyd_origins_free(keyd->origins);
	keyd_mailbox_free(keyd->mailbox);
	if (keyd->retry)
		event_free(keyd->retry);
	for (unsigned i = 0; i < 3; i++)
		if (run->signals[i])
			event_free(run->signals[i]);
	if (run->drain)
		event_free(run->drain);
	if (keyd->base)
		event_base_free(keyd->base);
}

/* Runs the daemon. config_path is read again at SIGHUP. Errors: what could not be started. */
static int keyd_run(struct keyd_config *config, const char *config_path, const struct hd_log *log,
		    struct hd_error *err)
{
	struct run run = {.keyd = {.config = config,
				   .log = log,
				   .next_key = 1,
				   .no_view = "heddle-keyd has not got the fabric from a subnet "
					      "manager yet"},
			  .config_path = config_path};
	int rc = 0;

	TAILQ_INIT(&run.keyd.jobs.list);
	struct rlimit limit;
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	run.keyd.base = new_base();
	if (!run.keyd.base)
		rc = hd_error_no_memory(err);
	if (!rc)
		rc = start_state(&run.keyd, err);
	if (!rc)
		rc = start_network(&run, err);
	if (!rc) {
		hd_log(log, HD_LOG_INFO, "ready: %u jobs, socket %s%s%s", run.keyd.jobs.count,
		       config->socket, config->tcp ? ", TCP " : "", config->tcp ? config->tcp : "");
		keyd_systemd_notify("READY=1");
		if (event_base_dispatch(run.keyd.base) < 0)
			rc = hd_error_set(err, -EIO, "the event loop has failed");
	}
	main_stop(&run);
	return rc;
}

enum { EXIT_USAGE = 2 };

static void usage(FILE *out)
{
	fputs("Usage: heddle-keyd [--config FILE] [--check] [--verbose]\n\n"
	      "Serves routing keys to applications and job schedulers.\n\n"
	      "  --config FILE  instead of " HD_CONFIG_PATH "\n"
	      "  --check        only read the configuration and hosts_file\n"
	      "  --verbose      log more\n"
	      "  --version      print the version\n"
	      "  --help         print this text\n",
	      out);
}

static void write_line(void *context, enum hd_log_level level, const char *line)
{
	static const char *const names[] = {"error: ", "warning: ", "", ""};
	const bool *verbose = context;

	if (level < HD_LOG_DEBUG || *verbose)
		fprintf(stderr, "heddle-keyd: %s%s\n", names[level], line);
}

static int complain(const struct hd_error *err)
{
	fprintf(stderr, "heddle-keyd: %s\n", err->text);
	return EXIT_FAILURE;
}

static int main_check(const struct keyd_config *config)
{
	struct keyd_hosts *hosts;
	struct keyd_origins *origins;
	struct hd_error err = {""};

	if (keyd_hosts_read(config->hosts_file, &hosts, &err))
		return complain(&err);
	keyd_hosts_free(hosts);
	if (keyd_origins_read(config->scheduler_hosts, &origins, &err))
		return complain(&err);
	keyd_origins_free(origins);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"config", required_argument, NULL, 'c'}, {"check", no_argument, NULL, 'k'},
	    {"verbose", no_argument, NULL, 'v'},      {"help", no_argument, NULL, 'h'},
	    {"version", no_argument, NULL, 'V'},      {NULL, 0, NULL, 0}};
	const char *path = HD_CONFIG_PATH;
	bool only_check = false, verbose = false, must_exist = false;
	int option;

	if (hd_plain_stdio())
		return EXIT_FAILURE;
	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			path = optarg;
			must_exist = true;
			break;
		case 'k':
			only_check = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 'V':
			puts("heddle-keyd " HEDDLE_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		const struct hd_log log = {write_line, &verbose};
		struct keyd_config config;
		struct hd_error err = {""};
		int status = EXIT_SUCCESS;
		if (keyd_config_read(path, must_exist, &config, &err))
			return complain(&err);
		signal(SIGPIPE, SIG_IGN);
		signal(SIGXFSZ, SIG_IGN); /* a full disk is an error of write() */
		if (only_check)
			status = main_check(&config);
		else if (keyd_run(&config, path, &log, &err))
			status = complain(&err);
		keyd_config_release(&config);
		return status;
	}
	usage(stderr);
	return EXIT_USAGE;
}
