/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keyd_store_open() takes the lock of the folder, opens the database and makes its tables; keyd_store_load() hands over
 * what it has; a job that cannot be used is moved aside. After keyd_store_start() only the store's thread uses the
 * database: changes that keyd_store_submit() collects in one round of the event loop are one transaction. If that fails,
 * each change is tried alone. What fails has a negative errno, "No space left on device" if the disk is full.
 */
#include "keyd_store.h"

#include <errno.h>
#include <fcntl.h>
#include <heddle/base/parallel.h>
#include <heddle/base/place.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT 1 /* of the database */
#define PATH_SIZE 256

enum statement {
	BEGIN,
	COMMIT,
	ROLLBACK,
	INSERT_JOB,
	PUT_STEP,
	PUT_RECIPE,
	DELETE_RECIPES,
	SET_ACTIVE,
	SET_OFFSETS,
	DELETE_STEP,
	DELETE_STEPS,
	DELETE_JOB,
	SET_NEXT_KEY,
	STATEMENT_COUNT
};

static const char *const statements[STATEMENT_COUNT] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [INSERT_JOB] = "INSERT INTO jobs(id, uid, body, answer, first_offset, offsets, placed) "
		   "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [PUT_STEP] = "INSERT OR REPLACE INTO steps(job, step, body, answer, first_key, active) "
		 "VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [PUT_RECIPE] = "INSERT OR REPLACE INTO recipes(key, job, step, recipe) VALUES(?1, ?2, ?3, ?4)",
    [DELETE_RECIPES] = "DELETE FROM recipes WHERE job=?1 AND (?2='' OR step=?2)",
    [SET_ACTIVE] = "UPDATE steps SET active=?3 WHERE job=?1 AND step=?2",
    [SET_OFFSETS] = "UPDATE jobs SET offsets=?2 WHERE id=?1",
    [DELETE_STEP] = "DELETE FROM steps WHERE job=?1 AND step=?2",
    [DELETE_STEPS] = "DELETE FROM steps WHERE job=?1",
    [DELETE_JOB] = "DELETE FROM jobs WHERE id=?1",
    [SET_NEXT_KEY] = "UPDATE meta SET value=max(value, ?1) WHERE name='next_key'",
};

struct keyd_store {
	char path[PATH_SIZE]; /* of the database */
	sqlite3 *database;
	sqlite3_stmt *prepared[STATEMENT_COUNT];
	int lock;
	bool relaxed; /* commits do not wait for the disk */
	struct keyd_mailbox *mailbox;
	pthread_t thread;
	bool started;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct keyd_task_list waiting;
	struct keyd_task_list collected; /* in this round of the event loop; only its thread */
	struct event *hand_over;
	bool ending;
	struct keyd_store_counts counts;
};

/* Why SQLite has failed: a negative errno. It does not keep that of a write for which there was no room. */
static int sql_errno(struct keyd_store *store)
{
	const int number = sqlite3_system_errno(store->database);

	if (sqlite3_errcode(store->database) == SQLITE_FULL)
		return -ENOSPC;
	return number > 0 ? -number : -EIO;
}

/* "FILE: cannot make its tables: No space left on device (database or disk is full)" */
static int sql_error(struct keyd_store *store, const char *what, struct hd_error *err)
{
	const int rc = sql_errno(store);

	return hd_error_set(err, rc, "%s: cannot %s: %s (%s)", store->path, what, strerror(-rc),
			    sqlite3_errmsg(store->database));
}

/* SQLite opens several files by their names. So nobody else may make files there, not even as in /tmp. */
static int check_folder(const char *folder, const char *file, struct hd_error *err)
{
	struct stat facts;
	int rc = hd_place_check_folder(file, err);

	if (!rc && (stat(folder, &facts) || (facts.st_mode & (S_IWGRP | S_IWOTH))))
		rc = hd_error_set(err, -EPERM, "%s: other users can make files in this folder",
				  folder);
	return rc;
}

static int take_lock(struct keyd_store *store, const char *folder, struct hd_error *err)
{
	char path[PATH_SIZE];

	if (mkdir(folder, 0750) && errno != EEXIST)
		return hd_error_set(err, -errno, "%s: cannot make this folder: %s", folder,
				    strerror(errno));
	snprintf(path, sizeof(path), "%s/lock", folder);
	const int rc = check_folder(folder, path, err);
	if (rc)
		return rc;
	store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
	if (store->lock < 0)
		return hd_error_set(err, -errno, "%s: cannot open: %s", path, strerror(errno));
	if (flock(store->lock, LOCK_EX | LOCK_NB))
		return hd_error_set(err, -EBUSY,
				    "%s: another heddle-keyd uses this state; stop it, or give "
				    "this one another 'state' in [keyd]",
				    folder);
	return 0;
}

static int execute(struct keyd_store *store, const char *text, const char *what,
		   struct hd_error *err)
{
	if (sqlite3_exec(store->database, text, NULL, NULL, NULL) != SQLITE_OK)
		return sql_error(store, what, err);
	return 0;
}

static int check_format(struct keyd_store *store, struct hd_error *err)
{
	sqlite3_stmt *query;
	int format = 0;

	if (sqlite3_prepare_v2(store->database, "PRAGMA user_version", -1, &query, NULL))
		return sql_error(store, "read its format", err);
	if (sqlite3_step(query) == SQLITE_ROW)
		format = sqlite3_column_int(query, 0);
	sqlite3_finalize(query);
	if (format > FORMAT)
		return hd_error_set(err, -ENOTSUP,
				    "%s: a newer heddle-keyd has written this database (format %d, "
				    "this one knows %d)",
				    store->path, format, FORMAT);
	return 0;
}

static int open_database(struct keyd_store *store, const char *folder, struct hd_error *err)
{
	snprintf(store->path, sizeof(store->path), "%s/keyd.db", folder);
	if (sqlite3_open_v2(store->path, &store->database,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return sql_error(store, "open this database", err);
	int rc = execute(store,
			 "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
			 "PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216",
			 "open this database", err);
	if (!rc)
		rc = check_format(store, err);
	if (!rc)
		rc =
		    execute(store,
			    "BEGIN;"
			    "CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER);"
			    "INSERT OR IGNORE INTO meta VALUES('next_key', 1);"
			    "CREATE TABLE IF NOT EXISTS jobs(id TEXT PRIMARY KEY, uid INTEGER,"
			    " body TEXT, answer TEXT, first_offset INTEGER, offsets INTEGER, "
			    "placed INTEGER)"
			    " WITHOUT ROWID;"
			    "CREATE TABLE IF NOT EXISTS steps(job TEXT, step TEXT, body TEXT,"
			    " answer TEXT, first_key INTEGER, active TEXT, PRIMARY KEY(job, step))"
			    " WITHOUT ROWID;"
			    "CREATE TABLE IF NOT EXISTS recipes(key INTEGER, job TEXT, step TEXT, "
			    "recipe TEXT,"
			    " PRIMARY KEY(job, step, key)) WITHOUT ROWID;"
			    "PRAGMA user_version=1;"
			    "COMMIT",
			    "make its tables", err);
	for (unsigned i = 0; !rc && i < STATEMENT_COUNT; i++)
		if (sqlite3_prepare_v3(store->database, statements[i], -1,
				       SQLITE_PREPARE_PERSISTENT, &store->prepared[i], NULL))
			rc = sql_error(store, "use its tables", err);
	return rc;
}

int keyd_store_open(const char *folder, struct keyd_store **out, struct hd_error *err)
{
	struct keyd_store *store = calloc(1, sizeof(*store));

	if (!store)
		return hd_error_no_memory(err);
	store->lock = -1;
	pthread_mutex_init(&store->mutex, NULL);
	pthread_cond_init(&store->wake, NULL);
	int rc = take_lock(store, folder, err);
	if (!rc)
		rc = open_database(store, folder, err);
	if (rc)
		keyd_store_close(store);
	else
		*out = store;
	return rc;
}

static const char *text_of(sqlite3_stmt *query, int column)
{
	const unsigned char *text = sqlite3_column_text(query, column);

	return text ? (const char *)text : "";
}

static int each_row(struct keyd_store *store, const char *text, enum keyd_store_kind kind,
		    int (*take)(void *, enum keyd_store_kind, const struct keyd_store_row *,
				struct hd_error *),
		    void *context, struct hd_error *err)
{
	sqlite3_stmt *query;
	int rc = 0, result = SQLITE_DONE;

	if (sqlite3_prepare_v2(store->database, text, -1, &query, NULL))
		return sql_error(store, "read its tables", err);
	while (!rc && (result = sqlite3_step(query)) == SQLITE_ROW) {
		const struct keyd_store_row row = {
		    .job = text_of(query, 0),
		    .step = text_of(query, 1),
		    .body = text_of(query, 2),
		    .answer = text_of(query, 3),
		    .active = text_of(query, 4),
		    .uid = sqlite3_column_int64(query, 5),
		    .offset = sqlite3_column_int64(query, 6),
		    .offsets = sqlite3_column_int64(query, 7),
		    .key = sqlite3_column_int64(query, 8),
		    .next_key = sqlite3_column_int64(query, 9),
		};
		rc = take(context, kind, &row, err);
	}
	if (!rc && result != SQLITE_DONE)
		rc = sql_error(store, "read its tables", err);
	sqlite3_finalize(query);
	return rc;
}

static int take_next_key(void *context, enum keyd_store_kind kind, const struct keyd_store_row *row,
			 struct hd_error *err)
{
	(void)kind;
	(void)err;
	*(uint64_t *)context = (uint64_t)row->next_key;
	return 0;
}

int keyd_store_load(struct keyd_store *store,
		    int (*take)(void *context, enum keyd_store_kind kind,
				const struct keyd_store_row *row, struct hd_error *err),
		    void *context, uint64_t *next_key, struct hd_error *err)
{
	int rc = each_row(store,
			  "SELECT id, '', body, answer, '', uid, first_offset, offsets, 0, 0"
			  " FROM jobs ORDER BY placed",
			  KEYD_STORE_JOB, take, context, err);

	if (!rc)
		rc = each_row(store,
			      "SELECT job, step, body, answer, active, 0, 0, 0, first_key, 0"
			      " FROM steps ORDER BY first_key",
			      KEYD_STORE_STEP, take, context, err);
	if (!rc)
		rc = each_row(store,
			      "SELECT job, step, recipe, '', '', 0, 0, 0, key, 0 FROM recipes",
			      KEYD_STORE_RECIPE, take, context, err);
	if (!rc)
		rc = each_row(store,
			      "SELECT '', '', '', '', '', 0, 0, 0, 0, value FROM meta"
			      " WHERE name='next_key'",
			      KEYD_STORE_JOB, take_next_key, next_key, err);
	return rc;
}

static int execute_for_job(struct keyd_store *store, const char *text, const char *job,
			   const char *why, struct hd_error *err)
{
	static const char what[] = "set a job aside";
	sqlite3_stmt *statement;
	int rc = 0;

	if (sqlite3_prepare_v2(store->database, text, -1, &statement, NULL))
		return sql_error(store, what, err);
	sqlite3_bind_text(statement, 1, job, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, why, -1, SQLITE_STATIC); /* not all have a second one */
	if (sqlite3_step(statement) != SQLITE_DONE)
		rc = sql_error(store, what, err);
	sqlite3_finalize(statement);
	return rc;
}

/* An id can be anything in a damaged row, so it is compared as text, as each_row() has read it. */
int keyd_store_set_aside(struct keyd_store *store, const char *job, const char *why,
			 struct hd_error *err)
{
	static const char *const moves[] = {
	    "INSERT INTO jobs_aside SELECT datetime('now'), ?2, * FROM jobs"
	    " WHERE CAST(id AS TEXT)=?1",
	    "INSERT INTO steps_aside SELECT datetime('now'), ?2, * FROM steps"
	    " WHERE CAST(job AS TEXT)=?1",
	    "DELETE FROM jobs WHERE CAST(id AS TEXT)=?1",
	    "DELETE FROM steps WHERE CAST(job AS TEXT)=?1",
	};
	int rc = execute(store,
			 "BEGIN;"
			 "CREATE TABLE IF NOT EXISTS jobs_aside(moved, why, id, uid, body, answer,"
			 " first_offset, offsets, placed);"
			 "CREATE TABLE IF NOT EXISTS steps_aside(moved, why, job, step, body,"
			 " answer, first_key, active)",
			 "set a job aside", err);

	for (unsigned i = 0; !rc && i < sizeof(moves) / sizeof(*moves); i++)
		rc = execute_for_job(store, moves[i], job, why, err);
	if (!rc)
		rc = execute(store, "COMMIT", "set a job aside", err);
	if (rc && !sqlite3_get_autocommit(store->database))
		sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* Binds values, a letter of `kinds` for each: t a text, NULL is an empty one; i a number. Runs the statement. 0, or a
 * negative errno. */
static int store_run(struct keyd_store *store, enum statement statement, const char *kinds, ...)
{
	sqlite3_stmt *prepared = store->prepared[statement];
	va_list values;

	va_start(values, kinds);
	for (int place = 1; kinds[place - 1]; place++) {
		if (kinds[place - 1] == 't') {
			const char *text = va_arg(values, const char *);
			sqlite3_bind_text(prepared, place, text ? text : "", -1, SQLITE_STATIC);
		} else {
			sqlite3_bind_int64(prepared, place, va_arg(values, int64_t));
		}
	}
	va_end(values);
	const int result = sqlite3_step(prepared), rc = sql_errno(store);
	sqlite3_reset(prepared);
	return result == SQLITE_DONE || result == SQLITE_ROW ? 0 : rc;
}

static int write_change(struct keyd_store *store, const struct keyd_store_change *change)
{
	const struct keyd_store_row *row = &change->row;
	int rc;

	switch (change->kind) {
	case KEYD_STORE_JOB: /* and its step 0, which has the placement's layout; keys ascend */
		rc = store_run(store, INSERT_JOB, "tittiii", row->job, row->uid, row->body,
			       row->answer, row->offset, row->offsets, row->key);
		if (!rc)
			rc = store_run(store, PUT_STEP, "ttttit", row->job, "0", "", "", row->key,
				       row->active);
		return rc ? rc : store_run(store, SET_NEXT_KEY, "i", row->next_key);
	case KEYD_STORE_STEP:
		rc = store_run(store, PUT_STEP, "ttttit", row->job, row->step, row->body,
			       row->answer, row->key, row->active);
		if (!rc && row->offsets)
			rc = store_run(store, SET_OFFSETS, "ti", row->job, row->offsets);
		return rc ? rc : store_run(store, SET_NEXT_KEY, "i", row->next_key);
	case KEYD_STORE_RECIPE:
		return store_run(store, PUT_RECIPE, "ittt", row->key, row->job, row->step,
				 row->body);
	case KEYD_STORE_ACTIVE:
		rc = store_run(store, SET_ACTIVE, "ttt", row->job, row->step, row->active);
		for (uint32_t i = 0; !rc && i < change->more_count; i++)
			rc = store_run(store, SET_ACTIVE, "ttt", change->more[i].job,
				       change->more[i].step, change->more[i].active);
		return rc;
	case KEYD_STORE_DELETE_STEP:
		rc = store_run(store, DELETE_STEP, "tt", row->job, row->step);
		return rc ? rc : store_run(store, DELETE_RECIPES, "tt", row->job, row->step);
	default:
		rc = store_run(store, DELETE_STEPS, "t", row->job);
		if (!rc) /* of all steps */
			rc = store_run(store, DELETE_RECIPES, "tt", row->job, "");
		return rc ? rc : store_run(store, DELETE_JOB, "t", row->job);
	}
}

static struct keyd_store_change *to_change(struct keyd_task *task)
{
	return (struct keyd_store_change *)((char *)task -
					    offsetof(struct keyd_store_change, task));
}

/* SQLite takes this pragma when it compiles it, so it cannot be prepared before. */
static int relax(struct keyd_store *store, bool relaxed)
{
	if (store->relaxed != relaxed &&
	    sqlite3_exec(store->database,
			 relaxed ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL", NULL,
			 NULL, NULL) != SQLITE_OK)
		return -EIO;
	store->relaxed = relaxed;
	return 0;
}

/* Commits all changes of a list, or none of them. */
static int write_all(struct keyd_store *store, const struct keyd_task_list *list)
{
	bool relaxed = true;

	for (struct keyd_task *task = list->first; task; task = task->next)
		relaxed &= to_change(task)->kind == KEYD_STORE_ACTIVE ||
			   to_change(task)->kind == KEYD_STORE_RECIPE;
	int rc = relax(store, relaxed);
	if (!rc)
		rc = store_run(store, BEGIN, "");
	for (struct keyd_task *task = list->first; !rc && task; task = task->next)
		rc = write_change(store, to_change(task));
	if (!rc)
		rc = store_run(store, COMMIT, "");
	if (rc && !sqlite3_get_autocommit(store->database))
		store_run(store, ROLLBACK, "");
	return rc;
}

/* If the changes fail together, each gets a chance of its own. */
static void write_list(struct keyd_store *store, const struct keyd_task_list *list)
{
	int rc = write_all(store, list);
	uint64_t changes = 0, failures = 0, commits = 1;

	for (struct keyd_task *task = list->first; task; task = task->next) {
		struct keyd_store_change *change = to_change(task);
		struct keyd_task *next = task->next;
		const struct keyd_task_list alone = {task, task};

		if (rc && list->first != list->last) {
			task->next = NULL;
			change->rc = write_all(store, &alone);
			task->next = next;
			commits++;
		} else {
			change->rc = rc;
		}
		changes++;
		failures += change->rc != 0;
	}
	pthread_mutex_lock(&store->mutex);
	store->counts.commits += commits;
	store->counts.changes += changes;
	store->counts.failures += failures;
	pthread_mutex_unlock(&store->mutex);
}

static void *write_changes(void *context)
{
	struct keyd_store *store = context;

	for (;;) {
		struct keyd_task_list list;
		pthread_mutex_lock(&store->mutex);
		while (!store->ending && !store->waiting.first)
			hd_condition_wait(&store->wake, &store->mutex);
		list = store->waiting;
		store->waiting = (struct keyd_task_list){0};
		pthread_mutex_unlock(&store->mutex);
		if (!list.first)
			return NULL;
		write_list(store, &list);
		keyd_mailbox_post(store->mailbox, list);
	}
}

static void append_list(struct keyd_task_list *list, struct keyd_task_list more)
{
	if (list->last)
		list->last->next = more.first;
	else
		list->first = more.first;
	if (more.last)
		list->last = more.last;
}

/* The thread is woken once for all changes of a round, and commits them together. */
static void on_hand_over(evutil_socket_t unused, short what, void *context)
{
	struct keyd_store *store = context;

	(void)unused;
	(void)what;
	pthread_mutex_lock(&store->mutex);
	append_list(&store->waiting, store->collected);
	pthread_cond_signal(&store->wake);
	pthread_mutex_unlock(&store->mutex);
	store->collected = (struct keyd_task_list){0};
}

int keyd_store_start(struct keyd_store *store, struct event_base *base,
		     struct keyd_mailbox *mailbox, struct hd_error *err)
{
	store->mailbox = mailbox;
	store->hand_over = event_new(base, -1, 0, on_hand_over, store);
	if (!store->hand_over)
		return hd_error_no_memory(err);
	int rc = pthread_create(&store->thread, NULL, write_changes, store);
	if (rc)
		return hd_error_set(err, -rc, "cannot start a thread: %s", strerror(rc));
	store->started = true;
	return 0;
}

void keyd_store_submit(struct keyd_store *store, struct keyd_store_change *change)
{
	if (!store->collected.first)
		event_active(store->hand_over, EV_TIMEOUT, 0);
	keyd_mailbox_append(&store->collected, &change->task);
}

const char *keyd_store_path(const struct keyd_store *store)
{
	return store->path;
}

struct keyd_store_counts keyd_store_counts(struct keyd_store *store)
{
	pthread_mutex_lock(&store->mutex);
	struct keyd_store_counts counts = store->counts;
	pthread_mutex_unlock(&store->mutex);
	return counts;
}

void keyd_store_close(struct keyd_store *store)
{
	if (!store)
		return;
	pthread_mutex_lock(&store->mutex);
	append_list(&store->waiting, store->collected);
	store->ending = true;
	pthread_cond_signal(&store->wake);
	pthread_mutex_unlock(&store->mutex);
	if (store->started)
		pthread_join(store->thread, NULL);
	if (store->hand_over)
		event_free(store->hand_over);
	for (unsigned i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(store->prepared[i]);
	sqlite3_close(store->database);
	if (store->lock >= 0)
		close(store->lock);
	pthread_cond_destroy(&store->wake);
	pthread_mutex_destroy(&store->mutex);
	free(store);
}
