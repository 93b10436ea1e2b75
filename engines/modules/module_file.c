/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "module_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int system_error(struct hd_error *err)
{
	int number = errno;

	return hd_error_set(err, -number, "%s", strerror(number));
}

/* Whether somebody else than root can change the file, or put another in its place. In a folder with
 * the sticky bit, such as /tmp, nobody can replace what belongs to root. */
static bool others_may_change(const struct stat *facts)
{
	bool sticky = S_ISDIR(facts->st_mode) && (facts->st_mode & S_ISVTX);

	return facts->st_uid != 0 || ((facts->st_mode & (S_IWGRP | S_IWOTH)) && !sticky);
}

static int check_owner(const char *path, struct hd_error *err)
{
	struct stat facts;

	if (stat(path, &facts))
		return system_error(err);
	if (!others_may_change(&facts))
		return 0;
	return hd_error_set(err, -EPERM,
			    "users other than root can change %s (owner %u, mode %o), so root does "
			    "not load it",
			    path, facts.st_uid, facts.st_mode & 07777u);
}

/* Checks a file and the folders above it. `path` is absolute and without links; it is changed. */
static int check_owners(char *path, struct hd_error *err)
{
	int rc = check_owner(path, err);

	for (char *slash; !rc && (slash = strrchr(path, '/')) != path;) {
		*slash = '\0';
		rc = check_owner(path, err);
	}
	return rc ? rc : check_owner("/", err);
}

static int check_file(const char *path, struct hd_error *err)
{
	char *real = realpath(path, NULL);
	struct stat facts;
	int rc = 0;

	if (!real || stat(real, &facts))
		rc = system_error(err);
	else if (!S_ISREG(facts.st_mode))
		rc = hd_error_set(err, -EINVAL, "it is not a regular file");
	else if (!geteuid())
		rc = check_owners(real, err);
	free(real);
	return rc;
}

static int linker_error(struct hd_error *err)
{
	const char *reason = dlerror();

	return hd_error_set(err, -EINVAL, "the dynamic linker says: %s",
			    reason ? reason : "no reason");
}

int module_file_open(const char *path, void **handle, const struct hd_engine_module **module,
		     struct hd_error *err)
{
	int rc = check_file(path, err);

	if (rc)
		return rc;
	void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!opened)
		return linker_error(err);
	*module = dlsym(opened, HD_ENGINE_MODULE_SYMBOL);
	if (!*module) {
		dlclose(opened);
		return hd_error_set(err, -EINVAL,
				    "it has no symbol " HD_ENGINE_MODULE_SYMBOL
				    ", so it is not a module for Heddle");
	}
	*handle = opened;
	return 0;
}

void module_file_close(void *handle)
{
	dlclose(handle);
}
