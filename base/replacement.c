/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces files: outputs of commands, and what the plugin keeps and dumps.
 *
 * hd_replacement_begin() finds the place (place.c) and makes a new file in its folder, which stays open: from here on
 * no path is looked up again. The caller writes and closes it. hd_replacement_commit() gives it the name, or
 * hd_replacement_drop() removes it. With several files, all are written before the first gets its name.
 *
 * The new file is always made, never opened, so nothing that somebody has put there is written to. Its rights go to the
 * system with its creation: the umask takes its part, and no moment has others. Where a pipe or device may be written to
 * directly, what was opened must be what was checked.
 */
#include <heddle/base/replacement.h>

#include <errno.h>
#include <fcntl.h>
#include <heddle/base/place.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TRIES 100u
#define RANDOM_LETTERS 6u

static int system_error(struct hd_error *err)
{
	const int number = errno;

	return hd_error_set(err, -number, "%s", strerror(number));
}

/* The name of the new file. */
static int name_it(struct hd_replacement *replacement, bool by_command, struct hd_error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[RANDOM_LETTERS];
	char suffix[RANDOM_LETTERS + 1] = "new";

	if (by_command) {
		if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
			return system_error(err);
		for (unsigned i = 0; i < RANDOM_LETTERS; i++)
			suffix[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	}
	if (snprintf(replacement->temporary, sizeof(replacement->temporary), "%s.%s",
		     replacement->name, suffix) < (int)sizeof(replacement->temporary))
		return 0;
	errno = ENAMETOOLONG;
	return system_error(err);
}

/* Nothing that is there is opened. */
static int make(struct hd_replacement *replacement, mode_t mode, bool by_command, int *file,
		struct hd_error *err)
{
	int made = -1, rc = 0;

	for (unsigned i = 0; !rc && made < 0 && i < TRIES; i++) {
		rc = name_it(replacement, by_command, err);
		if (!rc && !by_command)
			unlinkat(replacement->folder, replacement->temporary, 0);
		if (!rc)
			made = openat(replacement->folder, replacement->temporary,
				      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (!rc && made < 0 && errno != EEXIST)
			break;
	}
	if (!rc && made < 0)
		rc = system_error(err);
	if (!rc)
		*file = made;
	else
		replacement->temporary[0] = '\0';
	return rc;
}

static int open_in_place(const struct hd_place *place, int *file, struct hd_error *err)
{
	const bool closed =
	    !hd_place_is_open_to_others(&place->above) && !(place->above.st_mode & S_ISVTX);
	const bool ours = place->facts.st_uid == 0 || place->facts.st_uid == geteuid();
	struct stat facts;

	if (!place->given && !closed && (!ours || place->facts.st_nlink > 1))
		return hd_error_set(
		    err, -EPERM,
		    "there is a pipe or a device that another user (%u) may have put there",
		    (unsigned)place->facts.st_uid);
	const int opened =
	    openat(place->folder, place->name,
		   O_WRONLY | O_NOCTTY | O_CLOEXEC | (place->given ? 0 : O_NOFOLLOW));
	if (opened < 0)
		return system_error(err);
	int rc = fstat(opened, &facts) ? system_error(err) : 0;
	if (!rc && (facts.st_dev != place->facts.st_dev || facts.st_ino != place->facts.st_ino))
		rc = hd_error_set(err, -EPERM, "it was exchanged");
	if (!rc && S_ISREG(facts.st_mode) && ftruncate(opened, 0))
		rc = system_error(err);
	if (rc)
		close(opened);
	else
		*file = opened;
	return rc;
}

/* The mode of what a command makes: that of the caller's own file that is replaced, but nothing that gives rights away. */
static mode_t mode_of(const struct hd_place *place)
{
	const bool own =
	    place->exists && S_ISREG(place->facts.st_mode) && place->facts.st_uid == geteuid();

	return own ? place->facts.st_mode & 0777 : 0666;
}

int hd_replacement_begin(struct hd_replacement *replacement, const char *path, mode_t mode,
			 int *file, struct hd_error *err)
{
	const bool by_command = mode == HD_REPLACEMENT_COMMAND;
	struct hd_place place;
	int rc = hd_place_find(path, HD_PLACE_LINKS, &place, err);

	*replacement = (struct hd_replacement){.folder = -1};
	if (rc)
		return rc;
	const mode_t kind = place.exists ? place.facts.st_mode & S_IFMT : S_IFREG;
	if (kind == S_IFDIR) {
		errno = EISDIR;
		rc = system_error(err);
	} else if ((kind == S_IFREG && !place.given) || kind == S_IFLNK) {
		replacement->folder = fcntl(place.folder, F_DUPFD_CLOEXEC, 0);
		strcpy(replacement->name, place.name);
		rc = replacement->folder < 0
			 ? system_error(err)
			 : make(replacement, by_command ? mode_of(&place) : mode, by_command, file,
				err);
	} else if (by_command) {
		rc = open_in_place(&place, file, err);
	} else {
		rc = hd_error_set(err, -EEXIST, "there is a device, a pipe or a socket");
	}
	hd_place_close(&place);
	if (rc)
		hd_replacement_drop(replacement);
	return rc;
}

int hd_replacement_commit(struct hd_replacement *replacement, struct hd_error *err)
{
	int rc = 0;

	if (*replacement->temporary && renameat(replacement->folder, replacement->temporary,
						replacement->folder, replacement->name))
		rc = system_error(err);
	else
		replacement->temporary[0] = '\0';
	hd_replacement_drop(replacement);
	return rc;
}

void hd_replacement_drop(struct hd_replacement *replacement)
{
	if (*replacement->temporary)
		unlinkat(replacement->folder, replacement->temporary, 0);
	replacement->temporary[0] = '\0';
	if (*replacement->name && replacement->folder >= 0)
		close(replacement->folder);
	replacement->name[0] = '\0';
}

int hd_replacement_write(struct hd_replacement *replacement, const char *path, mode_t mode,
			 hd_replacement_write_fn *write, const void *context, struct hd_error *err)
{
	int file = -1, rc = hd_replacement_begin(replacement, path, mode, &file, err);
	FILE *stream = rc ? NULL : fdopen(file, "w");

	if (!rc && !stream) {
		rc = system_error(err);
		close(file);
	}
	if (stream) {
		rc = write(context, stream, err);
		if (fclose(stream) && !rc)
			rc = system_error(err);
	}
	if (rc)
		hd_replacement_drop(replacement);
	return rc ? hd_error_prefix(err, rc, "%s", path) : 0;
}

int hd_replace(const char *path, mode_t mode, hd_replacement_write_fn *write, const void *context,
	       struct hd_error *err)
{
	struct hd_replacement replacement;
	int rc = hd_replacement_write(&replacement, path, mode, write, context, err);

	if (!rc && (rc = hd_replacement_commit(&replacement, err)))
		hd_error_prefix(err, rc, "%s", path);
	return rc;
}

int hd_replace_by_nothing(const char *path, struct hd_error *err)
{
	struct hd_place place;
	struct hd_error reason;
	int rc = hd_place_find(path, HD_PLACE_LINKS, &place, &reason);

	if (!rc && unlinkat(place.folder, place.name, 0))
		rc = system_error(&reason);
	hd_place_close(&place);
	return rc && rc != -ENOENT ? hd_error_set(err, rc, "%s: %s", path, reason.text) : 0;
}
