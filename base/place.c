/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the place of a path as the kernel does, but asks at each name who could have put it there. Writers of files
 * (replacement.c), sockets and the loader of engine modules begin here.
 *
 * walk_on() takes the first name off what is left of the path. A folder becomes the next one to look in. The target of
 * a link is put before the rest. The walk ends at the last name: at a thing, at nothing, or at a link of another user.
 *
 * Who owns a link says who chose its target. There is one exception: in a folder where others can write, they may have
 * made a second name of somebody else's link. A link there counts only if it has one name.
 *
 * In /proc, links lead to what a process has open. A pipe, a terminal or a removed file at the end of such a link may
 * have no other name. The process got it from its caller, so no owner is asked for: /dev/stdout and the names of the
 * shell's >(...) work.
 */
#include <heddle/base/place.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MOST 40u /* as in the kernel */

struct walk {
	struct hd_place *place; /* its folder is where the next name is looked up */
	enum hd_place_rule rule;
	char rest[PATH_MAX]; /* names that are left */
	unsigned links; /* that were followed */
};

static bool is_ours(const struct stat *facts)
{
	return facts->st_uid == 0 || facts->st_uid == geteuid();
}

bool hd_place_is_open_to_others(const struct stat *facts)
{
	const bool sticky = S_ISDIR(facts->st_mode) && (facts->st_mode & S_ISVTX);
	const bool writable = !S_ISLNK(facts->st_mode) && (facts->st_mode & (S_IWGRP | S_IWOTH));

	return !is_ours(facts) || (writable && !sticky);
}

static int system_error(struct hd_error *err)
{
	const int number = errno;

	return hd_error_set(err, -number, "%s", strerror(number));
}

/* Whether the caller or root gave the thing this name. */
static bool is_trusted(const struct hd_place *place, const struct stat *facts)
{
	const bool closed = is_ours(&place->above) && !(place->above.st_mode & (S_IWGRP | S_IWOTH));

	return is_ours(facts) && (closed || S_ISDIR(facts->st_mode) || facts->st_nlink == 1);
}

static int check(const struct walk *walk, const char *name, const struct stat *facts,
		 struct hd_error *err)
{
	if (walk->rule != HD_PLACE_OWN ||
	    (!hd_place_is_open_to_others(facts) && is_trusted(walk->place, facts)))
		return 0;
	return hd_error_set(err, -EPERM, "users other than %s can change %s/%s (owner %u, mode %o)",
			    geteuid() ? "root and the caller" : "root", walk->place->path, name,
			    (unsigned)facts->st_uid, facts->st_mode & 07777u);
}

/* Goes on in this folder, which belongs to the walk now. */
static int enter(struct walk *walk, int folder, struct hd_error *err)
{
	struct hd_place *place = walk->place;

	if (place->folder >= 0)
		close(place->folder);
	place->folder = folder;
	return folder < 0 || fstat(folder, &place->above) ? system_error(err) : 0;
}

static int enter_first(struct walk *walk, const char *path, struct hd_error *err)
{
	const int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = enter(walk, folder, err);

	strcpy(walk->place->path, *path == '/' ? "" : path);
	return rc ? rc : check(walk, "", &walk->place->above, err);
}

static bool append(char *path, const char *name)
{
	const size_t length = strlen(path);

	return snprintf(path + length, PATH_MAX - length, "/%s", name) < (int)(PATH_MAX - length);
}

/* Puts the target of a link before the rest. */
static int follow(struct walk *walk, int link, struct hd_error *err)
{
	char target[PATH_MAX];
	const ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);

	if (length < 0)
		return system_error(err);
	target[length] = '\0';
	if (++walk->links > LINKS_MOST)
		errno = ELOOP;
	else
		errno = (size_t)length + strlen(walk->rest) < PATH_MAX ? 0 : ENAMETOOLONG;
	if (errno)
		return system_error(err);
	strcat(target, walk->rest);
	strcpy(walk->rest, target);
	return *target == '/' ? enter_first(walk, "/", err) : 0;
}

/* Whether the link leads to what this process got open and has no other name. */
static bool is_given(struct hd_place *place, const char *name)
{
	struct statfs system;
	struct stat facts;

	if (fstatfs(place->folder, &system) || system.f_type != PROC_SUPER_MAGIC ||
	    fstatat(place->folder, name, &facts, 0) || S_ISDIR(facts.st_mode) ||
	    (S_ISREG(facts.st_mode) && facts.st_nlink))
		return false;
	place->given = true;
	place->facts = facts;
	return true;
}

/* Takes what has the name: 1 it is the place, 0 the walk goes on. */
static int take(struct walk *walk, int thing, const char *name, bool last, struct hd_error *err)
{
	struct hd_place *place = walk->place;
	int rc =
	    fstat(thing, &place->facts) ? system_error(err) : check(walk, name, &place->facts, err);

	if (rc)
		return rc;
	if (S_ISLNK(place->facts.st_mode)) {
		if (last && walk->rule == HD_PLACE_LINKS && is_given(place, name))
			return 1;
		if (is_trusted(place, &place->facts))
			return follow(walk, thing, err);
		return last ? 1
			    : hd_error_set(err, -EPERM,
					   "it leads through %s/%s, a link of another user (%u)",
					   place->path, name, (unsigned)place->facts.st_uid);
	}
	if (last)
		return 1;
	if (!append(place->path, name)) {
		errno = ENAMETOOLONG;
		return system_error(err);
	}
	return enter(walk, fcntl(thing, F_DUPFD_CLOEXEC, 0), err);
}

/* Looks up the next name: 1 it is the place, 0 the walk goes on. */
static int walk_on(struct walk *walk, struct hd_error *err)
{
	struct hd_place *place = walk->place;
	char *begin = walk->rest + strspn(walk->rest, "/");
	const size_t length = strcspn(begin, "/");
	const char *behind = begin + length;
	const bool last = !behind[strspn(behind, "/")], slash = *behind != '\0';
	char name[NAME_MAX + 1];

	if (length > NAME_MAX) {
		errno = ENAMETOOLONG;
		return system_error(err);
	}
	snprintf(name, sizeof(name), "%.*s", (int)length, length ? begin : ".");
	memmove(walk->rest, behind, strlen(behind) + 1);
	/* first as a folder, so that it is mounted if it is to be */
	int thing = openat(place->folder, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	if (thing < 0 && errno == ENOTDIR && !(last && slash))
		thing = openat(place->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (thing < 0 && (errno != ENOENT || !last || slash))
		return system_error(err);
	strcpy(place->name, name);
	place->exists = thing >= 0;
	if (!place->exists)
		return 1;
	const int rc = take(walk, thing, name, last, err);
	close(thing);
	return rc;
}

int hd_place_find(const char *path, enum hd_place_rule rule, struct hd_place *place,
		  struct hd_error *err)
{
	struct walk walk = {.place = place, .rule = rule};
	const bool from_root = *path == '/' || rule == HD_PLACE_OWN;

	*place = (struct hd_place){.folder = -1};
	errno = *path ? 0 : ENOENT;
	if (!errno && *path != '/' && from_root && getcwd(walk.rest, sizeof(walk.rest)))
		errno = 0;
	if (!errno && strlen(walk.rest) + 1 + strlen(path) >= PATH_MAX)
		errno = ENAMETOOLONG;
	int rc = errno ? system_error(err) : 0;
	if (!rc) {
		append(walk.rest, path);
		rc = enter_first(&walk, from_root ? "/" : ".", err);
	}
	while (!rc)
		rc = walk_on(&walk, err);
	if (rc > 0 && append(place->path, place->name))
		return 0;
	hd_place_close(place);
	return rc > 0 ? hd_error_set(err, -ENAMETOOLONG, "%s", strerror(ENAMETOOLONG)) : rc;
}

void hd_place_close(struct hd_place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	place->folder = -1;
}

/* `path` for the reason. A way that cannot be looked at is not good; one that ends early leads to nothing. */
static int check_way(const char *way, const char *path, struct hd_error *err)
{
	struct hd_place place;
	struct hd_error reason;
	const int rc = hd_place_find(way, HD_PLACE_OWN, &place, &reason);

	hd_place_close(&place);
	return rc && rc != -ENOENT ? hd_error_set(err, rc, "%s: %s", path, reason.text) : 0;
}

int hd_place_check(const char *path, struct hd_error *err)
{
	return check_way(path, path, err);
}

int hd_place_check_folder(const char *path, struct hd_error *err)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	const int length = slash ? (int)(slash + 1 - path) : 0;

	if (snprintf(folder, sizeof(folder), "%.*s.", length, path) >= PATH_MAX)
		return 0; /* nothing can be made there */
	return check_way(folder, path, err);
}
