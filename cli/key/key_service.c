/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_service.h"
#include "json_value.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <heddle/base/plain.h>
#include <heddle/base/text.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

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

json_t *key_service_paths(const struct hd_key_client_path *paths, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		list = json_value_append(list, json_pack("[I,I,I]", (json_int_t)paths[i].source,
							 (json_int_t)paths[i].destination,
							 (json_int_t)paths[i].offset));
	return list;
}

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
	bool number = uid && *uid && strspn(uid, "0123456789") == strlen(uid);

	out->id = getenv("SLURM_JOB_ID");
	out->hosts = getenv("SLURM_JOB_NODELIST");
	out->pattern = getenv("SPANK_HEDDLE_ROUTING_PATTERN");
	out->flows = getenv("SPANK_HEDDLE_ROUTING_FLOWS");
	out->uid = number ? strtoll(uid, NULL, 10) : -1;
	return out->pattern && *out->pattern;
}

void key_slurm_log(const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	hd_plain_format(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "heddle: %s\n", text);
	openlog("heddle", LOG_PID, LOG_DAEMON);
	syslog(LOG_WARNING, "%s", text);
}

int key_slurm_no_memory(void)
{
	key_slurm_log("out of memory: the job goes on without routing keys");
	return STATUS_CLEAN;
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

/* Whether the rights of the user are enough: bits 4 reading, 1 searching a folder. His groups are
 * not known here, so what is for a group is for nobody. */
static bool may(const struct stat *file, uid_t uid, mode_t bits)
{
	mode_t others = bits << 3 | bits;

	return file->st_uid == uid ? file->st_mode & bits << 6 : (file->st_mode & others) == others;
}

/* Opens a name in a folder, -1: the root. Follows no link, so that nothing changes after the check. */
static int step_into(int folder, const char *name, bool last, uid_t uid, struct hd_error *err)
{
	int file = folder < 0 ? open("/", O_PATH | O_CLOEXEC)
			      : openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat facts;
	int rc;

	if (file < 0 || fstat(file, &facts))
		rc =
		    hd_error_set(err, -EACCES, "cannot open '%s' in it: %s", name, strerror(errno));
	else if (!(last ? S_ISREG(facts.st_mode) : S_ISDIR(facts.st_mode)))
		rc = hd_error_set(err, -EACCES, "'%s' in it is no %s", name,
				  last ? "regular file" : "folder");
	else if (!may(&facts, uid, last ? 4 : 1))
		rc = hd_error_set(err, -EACCES,
				  "this prolog does not run as root, and so it reads only what the "
				  "user owns or what all users may read, and '%s' in it is neither",
				  folder < 0 ? "/" : name);
	else
		return file;
	if (file >= 0)
		close(file);
	return rc;
}

/* Reads a file that this process and the user may read, though it cannot take his rights. */
static int read_for(const char *path, uid_t uid, struct hd_key_pattern **out, struct hd_error *err)
{
	char *names = strdup(path), opened[64];
	struct hd_text text;
	int file, rc;

	if (!names)
		return hd_error_no_memory(err);
	/* A descriptor of the file (O_PATH) if user `uid` may read it. */
	file = *names == '/' ? step_into(-1, "", false, uid, err)
			     : hd_error_set(err, -EINVAL, "the path is not absolute");
	char *rest = names, *name = strsep(&rest, "/");
	while (file >= 0 && rest) {
		int folder = file;
		name = strsep(&rest, "/");
		if (rest && !*name)
			continue;
		file = step_into(folder, name, !rest, uid, err);
		close(folder);
	}
	free(names);
	if (file < 0)
		return hd_error_prefix(err, file, "%s", path);
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", file);
	rc = hd_text_open_regular(opened, HD_KEY_PATTERN_FILE_MAX, &text, err);
	if (rc) {
		hd_error_prefix(err, rc, "%s", path);
	} else {
		rc = hd_key_pattern_read(text.bytes, text.length, path, HD_KEY_RANKS_MAX, out, err);
		hd_text_close(&text);
	}
	close(file);
	return rc;
}

/* As root, with the rights of the user meanwhile. */
static int read_as(const char *text, uid_t uid, struct hd_key_pattern **out, struct hd_error *err)
{
	gid_t gid = getegid(), groups[256];
	int count = getgroups(256, groups), rc = become(uid, err);

	if (!rc)
		rc = hd_key_pattern_new(text, HD_KEY_RANKS_MAX, out, err);
	if (seteuid(0) || setegid(gid) || setgroups(count < 0 ? 0 : (size_t)count, groups))
		key_slurm_log("cannot take back the rights of the prolog: %s", strerror(errno));
	return rc;
}

int key_slurm_pattern(const char *text, int64_t uid, struct hd_key_pattern **out,
		      struct hd_error *err)
{
	if (uid < 0 || uid >= UINT32_MAX)
		return hd_error_set(
		    err, -EPERM, "%s is not read: SLURM_JOB_UID does not say for which user", text);
	if (geteuid() == (uid_t)uid)
		return hd_key_pattern_new(text, HD_KEY_RANKS_MAX, out, err);
	return geteuid() == 0 ? read_as(text, (uid_t)uid, out, err)
			      : read_for(text + strlen("file:"), (uid_t)uid, out, err);
}
