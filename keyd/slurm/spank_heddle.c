/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle_spank.so, a plugin for Slurm: jobs that are submitted with --routing-pattern get routing
 * keys from heddle-keyd.
 *
 *   srun, sbatch, salloc	check the pattern; put it into the job's control environment, where the
 *			prolog of slurmctld finds it (`heddle key place --slurm-prolog`)
 *   srun		before the tasks start: the node of each rank, the first request; at the end: done
 *   slurmstepd		joins the step, and sets the environment of the tasks
 *
 * No failure of heddle-keyd stops a job.
 */
#include <errno.h>
#include <heddle/base/plain.h>
#include <heddle/keyd/key_pattern.h>
#include <heddle/keyd_client.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The arguments of the plugin's line in plugstack.conf. */

struct spank_settings {
	char keyd[256]; /* where heddle-keyd listens */
	char munge[256]; /* munged's socket; "": the default one */
	unsigned timeout_ms; /* of each call to heddle-keyd */
};

#define TIMEOUT_MS 2000u

static bool take_text(const char *argument, const char *name, char *out, size_t size)
{
	size_t length = strlen(name);

	if (strncmp(argument, name, length) || strlen(argument + length) >= size)
		return false;
	strcpy(out, argument + length);
	return true;
}

static bool take_timeout(const char *argument, unsigned *out)
{
	char text[8], *end;

	if (!take_text(argument, "timeout=", text, sizeof(text)))
		return false;
	unsigned long value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || value < 1 || value > 60000)
		return false;
	*out = (unsigned)value;
	return true;
}

/* Reads keyd=ADDRESS, timeout=MILLISECONDS, munge=SOCKET. NULL, or the argument that is wrong. */
static const char *spank_settings_read(int count, char **arguments, struct spank_settings *out)
{
	*out = (struct spank_settings){.keyd = HD_KEY_CLIENT_SOCKET, .timeout_ms = TIMEOUT_MS};
	for (int i = 0; i < count; i++)
		if (!take_text(arguments[i], "keyd=", out->keyd, sizeof(out->keyd)) &&
		    !take_text(arguments[i], "munge=", out->munge, sizeof(out->munge)) &&
		    !take_timeout(arguments[i], &out->timeout_ms))
			return arguments[i];
	return NULL;
}

/* A client with these settings. As hd_key_client_new(). */
static int spank_settings_client(const struct spank_settings *settings, struct hd_key_client **out,
				 struct hd_key_client_problem *problem)
{
	int rc = hd_key_client_new(settings->keyd, settings->timeout_ms, out, problem);

	if (!rc && *settings->munge)
		rc = hd_key_client_use_munge(*out, settings->munge, problem);
	return rc;
}

/* What the plugin does for a job step. */

struct spank_step {
	uint32_t job_id, step_id;
	char job[16], step[16]; /* the same for heddle-keyd */
	bool has_ranks; /* srun has started it; else it is the script of a batch job, or another
			 * step of Slurm's own */
};

static void set_step(struct spank_step *step, uint32_t job_id, uint32_t step_id)
{
	step->job_id = job_id;
	step->step_id = step_id;
	snprintf(step->job, sizeof(step->job), "%u", job_id);
	snprintf(step->step, sizeof(step->step), "%u", step_id);
	step->has_ranks = step_id <= SLURM_MAX_NORMAL_STEP_ID;
}

/* Which node each rank of a step runs on. */

struct spank_layout {
	uint32_t count; /* ranks */
	const char **hosts; /* [count] */
	char **names; /* [node_count] to which these point */
	uint32_t node_count;
};

static int spank_heddle_fail(struct hd_key_client_problem *problem, int rc, const char *reason)
{
	*problem = (struct hd_key_client_problem){.status = 0};
	snprintf(problem->detail, sizeof(problem->detail),
		 "the nodes of its ranks are not known: %s", reason);
	return rc;
}

static int read_layout(const slurm_step_layout_t *layout, struct spank_layout *out)
{
	out->node_count = layout->node_cnt;
	out->count = layout->task_cnt;
	out->names = calloc(out->node_count + 1, sizeof(*out->names));
	out->hosts = calloc(out->count + 1, sizeof(*out->hosts));
	if (!out->names || !out->hosts)
		return -ENOMEM;
	/* The names of "node[1-3,7]", in order. Slurm 22.05 calls the type of the list
	 * hostlist_t, Slurm 24.11 hostlist_t *. */
	struct hostlist *hosts = slurm_hostlist_create(layout->node_list);
	char *name;
	int rc = hosts ? 0 : -ENOMEM;
	for (uint32_t i = 0; !rc && i < out->node_count; i++) {
		name = slurm_hostlist_shift(hosts);
		out->names[i] = name ? strdup(name) : NULL;
		free(name);
		if (!out->names[i])
			rc = -ENOMEM;
	}
	if (hosts)
		slurm_hostlist_destroy(hosts);
	for (uint32_t node = 0; !rc && node < out->node_count; node++)
		for (uint32_t i = 0; i < layout->tasks[node]; i++)
			if (layout->tids[node][i] < out->count)
				out->hosts[layout->tids[node][i]] = out->names[node];
	for (uint32_t rank = 0; !rc && rank < out->count; rank++)
		if (!out->hosts[rank])
			rc = -EREMOTEIO;
	return rc;
}

/* Asks slurmctld. Release with spank_layout_release(), also after a failure. Errors: -EREMOTEIO
 * slurmctld does not say, -ENOMEM. */
static int spank_layout_get(uint32_t job, uint32_t step, struct spank_layout *out,
			    struct hd_key_client_problem *problem)
{
	slurm_step_id_t id = {.job_id = job, .step_id = step, .step_het_comp = NO_VAL};
	slurm_step_layout_t *layout = slurm_job_step_layout_get(&id);

	if (!layout)
		return spank_heddle_fail(problem, -EREMOTEIO, slurm_strerror(errno));
	int rc = read_layout(layout, out);
	slurm_job_step_layout_free(layout);
	if (rc)
		return spank_heddle_fail(
		    problem, rc, rc == -ENOMEM ? "no memory" : "slurmctld's layout lacks a rank");
	return 0;
}

/* Every message for users begins with this, so that they know who says it. */
#define WITHOUT_KEY "heddle: job %s step %s runs without a routing key: %s"

/* The step of the present callback. False: Slurm does not say. */
static bool spank_step_get(spank_t spank, struct spank_step *out)
{
	uint32_t job_id, step_id;

	if (spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS)
		return false;
	set_step(out, job_id, step_id);
	return true;
}

/*
 * Each component of a heterogeneous job is a job of its own for Slurm, with hosts and ranks of its own, and so it is for
 * heddle-keyd. One srun can start a step in several components. The plugin is called for the first of them only.
 */
struct spank_steps {
	uint32_t count;
	struct spank_step *steps; /* [count] one for each component, or the only one */
};

/* Whether this process has started the step: another srun may have a step of the same number in another component. */
static bool has_started(uint32_t job_id, uint32_t step_id)
{
	job_step_info_response_msg_t *found = NULL;
	char host[256] = "";
	bool own = false;

	if (gethostname(host, sizeof(host) - 1) ||
	    slurm_get_job_steps(0, job_id, step_id, &found, SHOW_ALL))
		return false;
	for (uint32_t i = 0; i < found->job_step_count; i++) {
		const job_step_info_t *step = &found->job_steps[i];
		const char *name = step->srun_host ? step->srun_host : "";
		size_t short_name = strcspn(host, ".");

		own |= step->step_id.job_id == job_id && step->step_id.step_id == step_id &&
		       step->srun_pid == (uint32_t)getpid() && strcspn(name, ".") == short_name &&
		       !strncmp(name, host, short_name);
	}
	slurm_free_job_step_info_response_msg(found);
	return own;
}

/* The number of the whole job, of which job_id is a component; 0: slurmctld does not say. */
static uint32_t whole_job(uint32_t job_id)
{
	job_info_msg_t *found = NULL;

	if (slurm_load_job(&found, job_id, SHOW_ALL))
		return 0;
	uint32_t whole = found->record_count ? found->job_array[0].het_job_id : 0;
	slurm_free_job_info_msg(found);
	return whole;
}

/* Adds the steps of other components that this srun has started. */
static void add_components(struct spank_steps *out)
{
	const struct spank_step first = out->steps[0];
	uint32_t whole = whole_job(first.job_id);
	job_info_msg_t *found = NULL;
	struct spank_step *grown;

	if (!whole || slurm_load_job(&found, whole, SHOW_ALL))
		return;
	grown = realloc(out->steps, (found->record_count + 1) * sizeof(*grown));
	if (grown)
		out->steps = grown;
	for (uint32_t i = 0; grown && i < found->record_count; i++) {
		uint32_t job_id = found->job_array[i].job_id;

		if (job_id != first.job_id && has_started(job_id, first.step_id))
			set_step(&grown[out->count++], job_id, first.step_id);
	}
	slurm_free_job_info_msg(found);
}

/* The steps that this srun has started, or none: there are none with ranks, or no memory. To be freed. */
static struct spank_steps spank_steps_get(spank_t spank)
{
	struct spank_steps out = {.steps = malloc(sizeof(*out.steps))};
	const char *components = getenv("SLURM_HET_SIZE");

	if (out.steps && spank_step_get(spank, &out.steps[0]) && out.steps[0].has_ranks)
		out.count = 1;
	if (out.count && components && strtoul(components, NULL, 10) > 1)
		add_components(&out);
	return out;
}

/* A job that keyd does not know has no prolog that places it, or keyd was away then. */
static const char *spank_heddle_explain(int rc, const struct hd_key_client_problem *problem)
{
	if (rc == -ENOENT && problem->status == 404)
		return "heddle-keyd does not know the job: give --routing-pattern to sbatch or "
		       "salloc, or see the log of slurmctld's prolog";
	return problem->detail;
}

/*
 * In srun, before the tasks start: tells heddle-keyd the node of each rank, and asks for the first
 * phase's key. Logs one line if the step runs without a key. Whether heddle-keyd knows the step; if
 * not, the nodes need not ask.
 */
static bool spank_step_begin(const struct spank_settings *settings, const struct spank_step *step)
{
	struct hd_key_client_problem problem = {.status = 0};
	struct hd_key_client_grant grant = {.ready = false};
	struct hd_key_client *client = NULL;
	struct spank_layout layout = {.count = 0};
	int rc = spank_settings_client(settings, &client, &problem);

	if (!rc)
		rc = spank_layout_get(step->job_id, step->step_id, &layout, &problem);
	if (!rc)
		rc = hd_key_client_layout(client, step->job, step->step, layout.hosts, layout.count,
					  NULL, &problem);
	if (!rc)
		rc = hd_key_client_request(client, step->job, step->step, 0, &grant, &problem);
	for (uint32_t i = 0; layout.names && i < layout.node_count; i++)
		free(layout.names[i]);
	free(layout.names);
	free(layout.hosts);
	hd_key_client_free(client);
	if (rc)
		slurm_spank_log(WITHOUT_KEY, step->job, step->step,
				spank_heddle_explain(rc, &problem));
	else if (!grant.ready)
		slurm_spank_log(WITHOUT_KEY, step->job, step->step, grant.reason);
	else
		slurm_verbose("heddle: job %s step %s has the routing key %s: LID offset %u, at "
			      "most %u of its flows on a link",
			      step->job, step->step, grant.key, grant.offset, grant.contention);
	return !rc;
}

/* In srun, after the tasks have ended. */
static void spank_step_end(const struct spank_settings *settings, const struct spank_step *step)
{
	struct hd_key_client_problem problem;
	struct hd_key_client *client = NULL;
	int rc = spank_settings_client(settings, &client, &problem);

	if (!rc) {
		/* Ends the phases that the step has begun and not ended itself. Those of other
		 * steps are refused. */
		struct hd_key_client_job *job = NULL;
		rc = hd_key_client_job(client, step->job, &job, &problem);
		for (size_t i = 0; !rc && i < job->active_count; i++) {
			rc = hd_key_client_done(client, step->job, step->step, job->active[i],
						&problem);
			if (rc == -EEXIST)
				rc = 0;
		}
		hd_key_client_job_free(job);
	}
	if (rc && problem.status != 404) /* 404: the job has ended meanwhile */
		slurm_verbose("heddle: cannot end the phases of job %s step %s: %s", step->job,
			      step->step, problem.detail);
	hd_key_client_free(client);
}

/* Asks for the key of the phase that the step has: other nodes may have begun before this one. Says so in slurmd's log
 * if it has none: srun has told the user already. */
static bool ask_key(spank_t spank, const struct spank_settings *settings,
		    const struct spank_step *step, struct hd_key_client_grant *grant)
{
	struct hd_key_client_problem problem;
	struct hd_key_client *client = NULL;
	uint32_t rank;
	int rc = spank_settings_client(settings, &client, &problem);

	if (!rc &&
	    spank_get_item(spank, S_JOB_LOCAL_TO_GLOBAL_ID, (uint32_t)0, &rank) == ESPANK_SUCCESS)
		hd_key_client_use_rank(client, rank);
	if (!rc)
		rc = hd_key_client_join(client, step->job, step->step, grant, &problem);
	hd_key_client_free(client);
	if (!rc && grant->ready && grant->offset)
		return true;
	slurm_info(WITHOUT_KEY, step->job, step->step,
		   rc ? spank_heddle_explain(rc, &problem) : grant->reason);
	return false;
}

/* In slurmstepd, as the job's user: tells the node's tasks where heddle-keyd listens; for a step with
 * ranks, puts the key into their environment, for which it asks if `ask`. */
static void spank_step_join(spank_t spank, const struct spank_settings *settings,
			    const struct spank_step *step, bool ask)
{
	struct hd_key_client_grant grant = {.ready = false};

	/* So that tasks can ask for further phases. */
	spank_setenv(spank, "HEDDLE_KEYD", settings->keyd, 1);
	if (*settings->munge)
		spank_setenv(spank, "HEDDLE_MUNGE_SOCKET", settings->munge, 1);
	spank_setenv(spank, "HEDDLE_JOB", step->job, 1);
	if (step->has_ranks)
		spank_setenv(spank, "HEDDLE_STEP", step->step, 1);
	if (!step->has_ranks)
		return;
	if (ask && ask_key(spank, settings, step, &grant)) {
		char offset[16];
		snprintf(offset, sizeof(offset), "%u", grant.offset);
		spank_setenv(spank, "HEDDLE_KEY", grant.key, 1);
		spank_setenv(spank, "HEDDLE_OFFSET", offset, 1);
		spank_setenv(spank, "UCX_IB_LID_PATH_BITS", offset, 1);
		return;
	}
	/* A task may have started this srun: its own key is not this step's. */
	char inherited[8];
	if (!(spank_getenv(spank, "HEDDLE_OFFSET", inherited, sizeof(inherited)) ==
	      ESPANK_ENV_NOEXIST)) {
		spank_unsetenv(spank, "HEDDLE_KEY");
		spank_unsetenv(spank, "UCX_IB_LID_PATH_BITS");
	}
	spank_setenv(spank, "HEDDLE_OFFSET", "0", 1);
}

/* The value of --routing-pattern. */

#define SPANK_PATTERN_LONGEST 4095u
#define SPANK_FLOWS_SIZE 32768u /* bytes of a variable in the job's environment */

static const char file_prefix[] = "file:";

/* "file:PATH" with the absolute path; the file must be readable and right. *flows: what is in it, or NULL if it is too
 * large for the environment. */
static int check_file(const char *text, char *out, char **flows, struct hd_error *err)
{
	struct hd_key_pattern *pattern = NULL;
	int rc = hd_key_pattern_new(text, HD_KEY_RANKS_MAX, &pattern, err);

	if (rc)
		return rc;
	hd_key_pattern_pack(pattern, SPANK_FLOWS_SIZE, flows);
	hd_key_pattern_free(pattern);
	char *path = realpath(text + strlen(file_prefix), NULL);
	if (!path || strlen(path) + strlen(file_prefix) > SPANK_PATTERN_LONGEST)
		rc = hd_error_set(err, -EINVAL, "%s: %s", text,
				  path ? "the path is too long" : strerror(errno));
	else
		sprintf(out, "%s%s", file_prefix, path);
	free(path);
	return rc;
}

SPANK_PLUGIN(heddle_spank, 1)

#define CONTROL_NAME "HEDDLE_ROUTING_PATTERN"
#define FLOWS_NAME "HEDDLE_ROUTING_FLOWS" /* of a file; the prolog need not be able to read it */
#define FLOWS_JOB_NAME "SLURM_SPANK_" FLOWS_NAME
#define USELESS_NAME "HEDDLE_NO_KEY" /* from srun to slurmstepd: keyd need not be asked */
#define JOB_NAME "SLURM_SPANK_" CONTROL_NAME /* Slurm's own, in a batch script and below salloc */

/* Slurm calls the callbacks of one process one after the other. */
static struct spank_settings settings;

static char pattern[SPANK_PATTERN_LONGEST + 1]; /* "": the option is not given */

static char *flows; /* of its file; NULL: none, or too large */

static bool is_chosen; /* the pattern is that of the component whose options are being read */

static struct spank_steps running; /* in srun */

static pid_t runner; /* the process that has begun it; 0: none */

static int take_pattern(int value, const char *text, int remote)
{
	const char *placed = getenv("SLURM_JOB_ID") ? getenv(JOB_NAME) : NULL;
	char reason[512];

	(void)value;
	if (remote) { /* checked by srun; here it only says that the step wants a key */
		snprintf(pattern, sizeof(pattern), "%s", text);
		return 0;
	}
	if (placed && *placed) {
		/* In an allocation srun gets the option of sbatch or salloc again, from the
		 * environment. Its file may be gone by now, and keyd has made the keys of the
		 * job's pattern already. */
		char plain[sizeof(pattern)];
		if (strncmp(text, "file:", strlen("file:")) && strcmp(text, placed))
			slurm_spank_log("heddle: the steps of this job have its pattern '%s'; a "
					"step cannot have another one",
					hd_plain(placed, plain, sizeof(plain)));
		snprintf(pattern, sizeof(pattern), "%s", placed);
		return 0;
	}
	/* sbatch gives the option of the first component to each other component again, from
	 * its environment, after what the script says for that component. salloc and srun do so
	 * before. */
	const char *first = getenv("_SLURM_SPANK_OPTION_heddle_spank_routing_pattern");
	if (spank_context() == S_CTX_ALLOCATOR && is_chosen && first && !strcmp(first, text))
		return 0;
	is_chosen = true;
	free(flows);
	flows = NULL;
	/* A pattern is checked where it is submitted, and gets the absolute path of its file. A file is read as the user,
	 * now; `flows` gets what is in it, and stays NULL for other patterns and large files. */
	struct hd_error err = {""};
	int rc = hd_key_pattern_check(text, &err);
	if (!rc && strlen(text) > SPANK_PATTERN_LONGEST)
		rc = hd_error_set(&err, -EINVAL, "it has more than %u characters",
				  SPANK_PATTERN_LONGEST);
	if (!rc && !strncmp(text, file_prefix, strlen(file_prefix)))
		rc = check_file(text, pattern, &flows, &err);
	else if (!rc)
		strcpy(pattern, text);
	if (rc)
		snprintf(reason, sizeof(reason), "%s", err.text);
	if (!rc)
		return 0;
	slurm_error("--routing-pattern: %s", reason);
	return -1;
}

static struct spank_option option = {
    .name = "routing-pattern",
    .arginfo = "NAME[:ARGUMENTS]|file:PATH",
    .usage = "reserve InfiniBand routes for this traffic pattern ('heddle key make --patterns' "
	     "lists the patterns)",
    .has_arg = 1,
    .cb = take_pattern,
};

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	const char *wrong = spank_settings_read(count, arguments, &settings);
	spank_context_t context = spank_context();
	char plain[256];

	if (wrong)
		slurm_error("heddle_spank.so in plugstack.conf: '%s' is not one of keyd=ADDRESS, "
			    "timeout=1..60000 (milliseconds) and munge=SOCKET; it is ignored",
			    hd_plain(wrong, plain, sizeof(plain)));
	if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE)
		spank_option_register(spank, &option);
	return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	(void)count, (void)arguments;
	is_chosen = false; /* the next call is for another component */
	if (!*pattern || spank_remote(spank))
		return 0;
	spank_job_control_unsetenv(spank, FLOWS_NAME); /* those of another component */
	if (spank_job_control_setenv(spank, CONTROL_NAME, pattern, 1) != ESPANK_SUCCESS ||
	    (flows && spank_job_control_setenv(spank, FLOWS_NAME, flows, 1) != ESPANK_SUCCESS))
		slurm_error("heddle: cannot pass --routing-pattern to the prolog; the job runs "
			    "without a routing key");
	return 0;
}

/* In srun: the step exists, and its tasks do not run yet. */
int slurm_spank_local_user_init(spank_t spank, int count, char **arguments)
{
	bool known = false;

	(void)count, (void)arguments;
	if (!*pattern)
		return 0;
	running = spank_steps_get(spank);
	if (!running.count)
		return 0;
	for (uint32_t i = 0; i < running.count; i++)
		known |= spank_step_begin(&settings, &running.steps[i]);
	unsetenv(USELESS_NAME);
	if (known)
		runner = getpid();
	else
		setenv(USELESS_NAME, "1", 1); /* srun exports its environment to the tasks */
	return 0;
}

/* In slurmstepd, with the user's rights. */
int slurm_spank_user_init(spank_t spank, int count, char **arguments)
{
	char useless[2] = "";
	struct spank_step step;

	(void)count, (void)arguments;
	spank_unsetenv(spank, FLOWS_JOB_NAME); /* nobody needs it any more, and it may be long */
	/* A step gets the option from srun, whatever it exports. A batch script has the job's
	 * environment. */
	char first[2];
	if (!(*pattern ||
	      spank_getenv(spank, JOB_NAME, first, sizeof(first)) != ESPANK_ENV_NOEXIST) ||
	    !spank_step_get(spank, &step))
		return 0;
	spank_getenv(spank, USELESS_NAME, useless, sizeof(useless));
	spank_step_join(spank, &settings, &step, !*useless);
	return 0;
}

int slurm_spank_exit(spank_t spank, int count, char **arguments)
{
	(void)spank, (void)count, (void)arguments;
	if (runner && runner == getpid() && spank_context() == S_CTX_LOCAL)
		for (uint32_t i = 0; i < running.count; i++)
			spank_step_end(&settings, &running.steps[i]);
	free(running.steps);
	running = (struct spank_steps){0};
	runner = 0;
	return 0;
}
