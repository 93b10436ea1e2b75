/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_service.h"
#include "message.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

/* ---- heddle-keyd ---- */

int key_service_open(const struct key_service *service, struct hd_key_client **out)
{
	struct hd_key_client_problem problem;
	const char *address = service->socket ? service->socket : service->host;

	if (service->socket && service->host)
		return message_error("--socket and --host exclude each other");
	if (service->socket && *service->socket != '/')
		return message_error("--socket '%s': expected a path that begins with '/'",
				     service->socket);
	if (service->host && *service->host == '/')
		return message_error("--host '%s': expected HOST:PORT", service->host);
	if (hd_key_client_new(address,
			      service->timeout_ms ? service->timeout_ms : KEY_SERVICE_TIMEOUT_MS,
			      out, &problem))
		return key_service_fail(&problem);
	return 0;
}

int key_service_job(const char **job)
{
	if (!*job)
		*job = getenv("HEDDLE_JOB");
	if (!*job)
		*job = getenv("SLURM_JOB_ID");
	if (!*job)
		return message_error("no job given: use --job ID");
	return 0;
}

int key_service_fail(const struct hd_key_client_problem *problem)
{
	if (problem->status && problem->retry_after)
		return message_error("heddle-keyd: %s (status %d; try again in %u s)",
				     problem->detail, problem->status, problem->retry_after);
	if (problem->status)
		return message_error("heddle-keyd: %s (status %d)", problem->detail,
				     problem->status);
	return message_error("%s", problem->detail);
}

/* ---- Slurm ---- */

bool key_slurm_asked(int argc, char **argv, const char *option)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], option))
			return true;
	return false;
}

static void give_up(int number)
{
	static const char text[] = "heddle: no end within the time-out; the job runs on without a "
				   "routing key\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)number, (void)written;
	_exit(0);
}

void key_slurm_limit(unsigned timeout_ms)
{
	struct sigaction action = {.sa_handler = give_up};
	struct itimerval timer = {.it_value = {.tv_sec = timeout_ms / 1000,
					       .tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

bool key_slurm_job(struct key_slurm_job *out)
{
	const char *uid = getenv("SLURM_JOB_UID");

	out->id = getenv("SLURM_JOB_ID");
	out->hosts = getenv("SLURM_JOB_NODELIST");
	out->pattern = getenv("SPANK_HEDDLE_ROUTING_PATTERN");
	out->uid = uid && *uid ? strtoll(uid, NULL, 10) : -1;
	return out->pattern && *out->pattern;
}

void key_slurm_log(const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	fprintf(stderr, "heddle: %s\n", text);
	openlog("heddle", LOG_PID, LOG_DAEMON);
	syslog(LOG_WARNING, "%s", text);
}

/* Takes the user's rights for opening files. */
static int become(uid_t uid, struct hd_error *err)
{
	const struct passwd *user = getpwuid(uid);

	if (!user || initgroups(user->pw_name, user->pw_gid) || setegid(user->pw_gid) ||
	    seteuid(uid))
		return hd_error_set(err, -EPERM, "cannot read a file as the user %u: %s",
				    (unsigned)uid, user ? strerror(errno) : "no such user here");
	return 0;
}

int key_slurm_pattern(const char *text, int64_t uid, struct hd_key_pattern **out,
		      struct hd_error *err)
{
	gid_t gid = getegid(), groups[256];
	bool other = geteuid() == 0 && uid > 0;
	int count = getgroups(256, groups), rc = other ? become((uid_t)uid, err) : 0;

	if (!rc)
		rc = hd_key_pattern_new(text, HD_KEY_RANKS_MAX, out, err);
	if (other &&
	    (seteuid(0) || setegid(gid) || setgroups(count < 0 ? 0 : (size_t)count, groups)))
		key_slurm_log("cannot take back the rights of the prolog: %s", strerror(errno));
	return rc;
}
