/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client library against a server that plays scripts, well-behaved and not. */
#include "scripted_server.h"

#include <errno.h>
#include <heddle/keyd_client.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define TIMEOUT_MS 500

#define GRANT                                                                                      \
	"{\"key\":\"17.0.0\",\"phase\":0,\"offset\":1,\"sl\":2,\"ready\":true,\"contention\":1,"   \
	"\"blocks\":12,\"changed\":36}"
#define GRANT_LENGTH "97"

struct scene {
	struct scripted_server server;
	struct hd_key_client *client;
	struct hd_key_client_problem problem;
	struct hd_key_client_grant grant;
};

static void open_scene_for(struct scene *scene, const struct scripted_answer *answers,
			   unsigned count, unsigned timeout_ms)
{
	memset(scene, 0, sizeof(*scene));
	scripted_server_begin(&scene->server, answers, count, false);
	assert_int_equal(
	    hd_key_client_new(scene->server.address, timeout_ms, &scene->client, &scene->problem),
	    0);
}

static void open_scene(struct scene *scene, const struct scripted_answer *answers, unsigned count)
{
	open_scene_for(scene, answers, count, TIMEOUT_MS);
}

static void close_scene(struct scene *scene)
{
	hd_key_client_free(scene->client);
	scripted_server_end(&scene->server);
}

static int request(struct scene *scene)
{
	return hd_key_client_request(scene->client, "17", "0", 3, &scene->grant, &scene->problem);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Requests are what the API says, and two of them use one connection. */
static void test_keeps_the_connection(void **state)
{
	static const struct scripted_answer answers[] = {{.json = GRANT},
							 {.json = ("{\"phase\":3}")}};
	struct scene scene;

	(void)state;
	open_scene(&scene, answers, 2);
	assert_int_equal(request(&scene), 0);
	assert_string_equal(scene.grant.key, "17.0.0");
	assert_int_equal(scene.grant.offset, 1);
	assert_int_equal(scene.grant.sl, 2);
	assert_int_equal(scene.grant.changed, 36);
	assert_true(scene.grant.ready);
	assert_int_equal(hd_key_client_done(scene.client, "17", "0", 3, &scene.problem), 0);
	close_scene(&scene);
	assert_int_equal(scene.server.connections, 1);
	assert_string_equal(scene.server.last,
			    "POST /v1/jobs/17/done HTTP/1.1\r\nHost: heddle-keyd\r\n"
			    "Content-Type: application/json\r\nContent-Length: 22\r\n\r\n"
			    "{\"step\":\"0\",\"phase\":3}");
}

/* Answers that come byte by byte, or after an interim answer, are the same answers. */
static void test_reads_in_pieces(void **state)
{
	static const struct scripted_answer answers[] = {
	    {.json = GRANT, .piece = 1},
	    {.bytes =
		 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: " GRANT_LENGTH
		 "\r\n\r\n" GRANT,
	     .piece = 7}};
	struct scene scene;

	(void)state;
	open_scene(&scene, answers, 2);
	assert_int_equal(request(&scene), 0);
	memset(&scene.grant, 0, sizeof(scene.grant));
	assert_int_equal(request(&scene), 0);
	assert_string_equal(scene.grant.key, "17.0.0");
	close_scene(&scene);
	assert_int_equal(scene.server.connections, 1);
}

/* A kept connection that the server has closed meanwhile, or closes on the next request, is made
 * again; the caller sees no failure. */
static void test_reconnects(void **state)
{
	static const struct scripted_answer answers[] = {
	    {.json = GRANT, .close = true},
	    {.json = GRANT},
	    {.close = true},
	    {.json = GRANT},
	    {.bytes = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length:" GRANT_LENGTH
		      "\r\n\r\n" GRANT}};
	struct scene scene;

	(void)state;
	open_scene(&scene, answers, 5);
	for (int i = 0; i < 4; i++)
		assert_int_equal(request(&scene), 0);
	close_scene(&scene);
	assert_int_equal(scene.server.requests, 5);
	assert_int_equal(scene.server.connections, 3);
}

/* A new connection that fails is not tried again: keyd may be dying of this very request. */
static void test_does_not_repeat_on_new_connections(void **state)
{
	static const struct scripted_answer answers[] = {{.close = true}, {.json = GRANT}};
	struct scene scene;

	(void)state;
	open_scene(&scene, answers, 2);
	assert_int_equal(request(&scene), -ECONNRESET);
	assert_non_null(strstr(scene.problem.detail, "closed the connection before"));
	close_scene(&scene);
	assert_int_equal(scene.server.requests, 1);
}

/* Whatever is no HTTP answer with a grant in it fails, says so, and writes no grant. */
static void test_refuses_garbage(void **state)
{
	static const struct {
		const char *bytes, *says, *json;
	} cases[] = {
	    {.bytes = "SSH-2.0-OpenSSH_9.2\r\n", .says = "does not begin like an answer"},
	    {.bytes = "HTTP/2 200\r\nContent-Length: 2\r\n\r\n{}",
	     .says = "does not begin like an answer"},
	    {.bytes = "HTTP/1.1 2x0 OK\r\nContent-Length: 2\r\n\r\n{}",
	     .says = "does not begin like an answer"},
	    {.bytes = "HTTP/1.1 200 OK\r\n\r\n{}", .says = "no Content-Length"},
	    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", .says = "not a number"},
	    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
	     .says = "too large"},
	    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
	     .says = "differ"},
	    {.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	     .says = "Transfer-Encoding"},
	    {.bytes = "HTTP/1.1 200 OK\r\n: 2\r\n\r\n{}", .says = "has no name"},
	    {.json = "[]", .says = "not a JSON object"},
	    {.json = "{\"a\":1]}", .says = "does not answer like heddle-keyd"},
	    {.json = "{\"a\":1,\"a\":2}  ", .says = "duplicate"},
	    {.json = "{}", .says = "lacks a member"},
	    {.json = "{\"offset\":\"1\",\"ready\":true}", .says = "lacks a member"},
	    {.json = "{\"offset\":200,\"ready\":true}", .says = "lacks a member"},
	    {.json = "{\"offset\":-1,\"ready\":true}", .says = "lacks a member"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct scripted_answer answer = {
		    .bytes = cases[i].bytes, .json = cases[i].json, .close = true};
		struct scene scene;

		open_scene(&scene, &answer, 1);
		scene.grant.offset = 77;
		assert_int_equal(request(&scene), -EPROTO);
		if (!strstr(scene.problem.detail, cases[i].says))
			fail_msg("case %zu: %s", i, scene.problem.detail);
		assert_int_equal(scene.grant.offset, 77);
		close_scene(&scene);
	}
}

/* A body that ends before its length, and a head that never ends, fail. */
static void test_short_and_endless_answers(void **state)
{
	static char endless[40000] = "HTTP/1.1 200 OK\r\nX: ";
	struct scripted_answer answers[] = {
	    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 98\r\n\r\n" GRANT, .close = true},
	    {.bytes = endless, .length = sizeof(endless)}};
	struct scene scene;

	(void)state;
	memset(endless + strlen(endless), 'x', sizeof(endless) - strlen(endless));
	open_scene(&scene, answers, 2);
	assert_int_equal(request(&scene), -ECONNRESET);
	assert_int_equal(request(&scene), -EPROTO);
	assert_non_null(strstr(scene.problem.detail, "head is too long"));
	close_scene(&scene);
}

/* The time-out holds for a server that says nothing, for one that says a byte now and then, and for
 * one that promises more than it sends. */
static void test_times_out(void **state)
{
	static const struct scripted_answer cases[] = {
	    {.bytes = NULL},
	    {.json = GRANT, .piece = 1, .pause_ms = 50},
	    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}"}};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct scene scene;
		int64_t begin, took;

		open_scene(&scene, &cases[i], 1);
		begin = now_ms();
		assert_int_equal(request(&scene), -ETIMEDOUT);
		took = now_ms() - begin;
		assert_true(took >= TIMEOUT_MS - 1 && took < TIMEOUT_MS + 1500);
		assert_non_null(strstr(scene.problem.detail, "did not answer in time"));
		assert_int_equal(scene.problem.status, 0);
		close_scene(&scene);
	}
}

#define BUSY_HEAD "HTTP/1.1 503 Service Unavailable\r\nRetry-After: "
#define BUSY_BODY "\r\nContent-Length: 2\r\n\r\n{}"

/* A call that keyd has no time for is made again when keyd says, but not after the time-out. */
static void test_tries_again(void **state)
{
	static const struct scripted_answer answers[] = {{.bytes = BUSY_HEAD "1" BUSY_BODY},
							 {.bytes = BUSY_HEAD "1" BUSY_BODY},
							 {.json = GRANT}};
	static const struct scripted_answer later[] = {{.bytes = BUSY_HEAD "3600" BUSY_BODY}};
	struct scene scene;

	(void)state;
	open_scene_for(&scene, answers, 3, 3600000);
	assert_int_equal(request(&scene), 0);
	assert_string_equal(scene.grant.key, "17.0.0");
	close_scene(&scene);
	assert_int_equal(scene.server.requests, 3);
	assert_int_equal(scene.server.connections, 1);
	open_scene_for(&scene, later, 1, 3600000);
	assert_int_equal(request(&scene), -EAGAIN);
	assert_int_equal(scene.problem.retry_after, 3600);
	close_scene(&scene);
	assert_int_equal(scene.server.requests, 1);
}

/* keyd's own reasons reach the caller with the status, as plain text. */
static void test_problem_json(void **state)
{
	static const struct {
		const char *bytes, *detail;
		int rc, status;
		unsigned retry_after;
	} cases[] = {
	    {"HTTP/1.1 403 Forbidden\r\nContent-Length: 37\r\n\r\n"
	     "{\"title\":\"T\",\"detail\":\"not your job\"}",
	     "not your job", -EACCES, 403, 0},
	    {"HTTP/1.1 404 Not Found\r\nContent-Length: 23\r\n\r\n{\"title\":\"no such job\"}",
	     "no such job", -ENOENT, 404, 0},
	    {"HTTP/1.1 409 Conflict\r\nContent-Length: 21\r\n\r\n{\"detail\":\"a\\u001bb\"}",
	     "a\\u001bb", -EEXIST, 409, 0},
	    {"HTTP/1.1 422 X\r\nContent-Length: 5\r\n\r\noops!", "status 422", -EINVAL, 422, 0},
	    {"HTTP/1.1 503 X\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", "status 503", -EAGAIN,
	     503, 7},
	    {"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", "status 500", -EREMOTEIO, 500, 0},
	    {"HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n", "larger than", -EMSGSIZE, 413, 0},
	    {"HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n", "status 400", -EINVAL, 400, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct scripted_answer answer = {.bytes = cases[i].bytes, .close = true};
		struct scene scene;

		open_scene(&scene, &answer, 1);
		assert_int_equal(request(&scene), cases[i].rc);
		assert_int_equal(scene.problem.status, cases[i].status);
		assert_int_equal(scene.problem.retry_after, cases[i].retry_after);
		if (!strstr(scene.problem.detail, cases[i].detail))
			fail_msg("case %zu: %s", i, scene.problem.detail);
		close_scene(&scene);
	}
}

#define LATE "HTTP/1.1 409 Conflict\r\nContent-Length: 27\r\n\r\n{\"detail\":\"late\",\"turn\":41}"

/* A request that keyd finds late is made again with the turn that keyd says; the next one has the turn
 * of the grant, and one of another step has none. */
static void test_asks_again_when_late(void **state)
{
	static const struct scripted_answer answers[] = {
	    {.bytes = LATE},
	    {.json = "{\"offset\":1,\"ready\":true,\"turn\":42}"},
	    {.bytes = LATE},
	    {.json = "{\"offset\":1,\"ready\":true,\"turn\":43}"},
	    {.json = GRANT}};
	static const char *const bodies[] = {[2] = "{\"step\":\"0\",\"phase\":3,\"turn\":41}",
					     [4] = "{\"step\":\"0\",\"phase\":3,\"turn\":41}",
					     [5] = "{\"step\":\"1\",\"phase\":3,\"turn\":0}"};

	(void)state;
	for (unsigned count = 2; count <= 5; count += count == 2 ? 2 : 1) {
		struct scene scene;

		open_scene(&scene, answers, count);
		assert_int_equal(request(&scene), 0);
		if (count >= 4)
			assert_int_equal(request(&scene), 0);
		if (count == 5)
			assert_int_equal(hd_key_client_request(scene.client, "17", "1", 3,
							       &scene.grant, &scene.problem),
					 0);
		close_scene(&scene);
		assert_int_equal(scene.server.requests, count);
		assert_non_null(strstr(scene.server.last, bodies[count]));
	}
}

/* It does not ask for ever, and not at all if the refusal has no turn, or if it is no request. */
static void test_gives_up_when_late(void **state)
{
	struct scripted_answer answers[32];
	struct scene scene;

	(void)state;
	for (unsigned i = 0; i < 32; i++)
		answers[i] = (struct scripted_answer){.bytes = LATE};
	open_scene(&scene, answers, 32);
	assert_int_equal(request(&scene), -EEXIST);
	assert_string_equal(scene.problem.detail, "late");
	assert_int_equal(hd_key_client_join(scene.client, "17", "0", &scene.grant, &scene.problem),
			 -EEXIST);
	close_scene(&scene);
	assert_int_equal(scene.server.requests, 16 + 1);
	assert_non_null(strstr(scene.server.last, "POST /v1/jobs/17/join HTTP/1.1\r\n"));
	assert_non_null(strstr(scene.server.last, "\r\n\r\n{\"step\":\"0\"}"));
}

/* A server that refuses a large body before it has read it is heard, without SIGPIPE. */
static void test_hears_a_refusal_of_a_large_body(void **state)
{
	static const struct scripted_answer answer = {
	    .bytes = "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 21\r\n\r\n"
		     "{\"detail\":\"too much\"}",
	    .deaf = true};
	static const uint32_t base[] = {0, 200000};
	struct hd_key_client_flow *flows = calloc(200000, sizeof(*flows));
	const char *hosts[] = {"node1"};
	struct hd_key_client_placement placement = {.hosts = hosts,
						    .host_count = 1,
						    .flows = flows,
						    .base = base,
						    .phase_count = 1,
						    .uid = -1};
	struct scene scene;
	int rc;

	(void)state;
	assert_ptr_equal(signal(SIGPIPE, SIG_DFL), SIG_DFL);
	open_scene_for(&scene, &answer, 1, 60000);
	hd_key_client_free(scene.client); /* writing so long a body takes its time */
	assert_int_equal(hd_key_client_new(scene.server.address, 20000, &scene.client, NULL), 0);
	rc = hd_key_client_place(scene.client, "17", &placement, NULL, &scene.problem);
	assert_int_equal(rc, -EMSGSIZE);
	assert_string_equal(scene.problem.detail, "too much");
	close_scene(&scene);
	free(flows);
}

/* What place() sends, and what it makes of the answer. */
static void test_place(void **state)
{
	static const char body[] =
	    "{\"job\":\"17\",\"state\":\"placed\",\"mode\":\"offset\",\"hosts\":2,\"ranks\":4,"
	    "\"offset\":1,\"offsets\":3,\"lmc\":2,\"active\":[3,1],\"keys\":[{\"key\":\"17.0\","
	    "\"phase\":0,"
	    "\"offset\":1,\"flows\":2,\"contention\":1,\"demand\":2,\"usable\":6},"
	    "{\"key\":\"17.1\",\"phase\":1,\"offset\":2,\"flows\":1,\"contention\":null}]}";
	static const struct hd_key_client_flow flows[] = {{0, 1}, {1, 0}, {0, 3}};
	static const uint32_t base[] = {0, 2, 3};
	const char *hosts[] = {"node1", "0x0002c903000e0b72"};
	struct hd_key_client_placement placement = {.hosts = hosts,
						    .host_count = 2,
						    .flows = flows,
						    .base = base,
						    .phase_count = 2,
						    .uid = 1000,
						    .ranks = 4,
						    .keys = 2,
						    .offset_mode = true,
						    .strict = true};
	struct hd_key_client_job *job = NULL;
	struct scripted_answer answer = {.bytes = NULL};
	struct scene scene;
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		 strlen(body), body);
	answer.bytes = text;
	open_scene(&scene, &answer, 1);
	assert_int_equal(hd_key_client_place(scene.client, "17", &placement, &job, &scene.problem),
			 0);
	assert_string_equal(job->job, "17");
	assert_string_equal(job->mode, "offset");
	assert_int_equal(job->uid, -1);
	assert_int_equal(job->lmc, 2);
	assert_int_equal(job->key_count, 2);
	assert_string_equal(job->keys[1].key, "17.1");
	assert_int_equal(job->keys[1].offset, 2);
	assert_int_equal(job->keys[0].usable, 6);
	assert_int_equal(job->active_count, 2);
	assert_int_equal(job->active[0], 3);
	hd_key_client_job_free(job);
	close_scene(&scene);
	assert_non_null(strstr(
	    scene.server.last,
	    "\r\n\r\n{\"hosts\":[\"node1\",\"0x0002c903000e0b72\"],\"phases\":[[[0,1],[1,0]],"
	    "[[0,3]]],\"ranks\":4,\"uid\":1000,\"keys\":2,\"mode\":\"offset\","
	    "\"best_effort\":false}"));
	assert_int_equal(strncmp(scene.server.last, "PUT /v1/jobs/17 HTTP/1.1\r\n", 26), 0);
}

static void test_lists(void **state)
{
	static const struct scripted_answer answers[] = {
	    {.json = ("{\"jobs\":[{\"job\":\"a\",\"state\":\"placed\",\"uid\":5,\"hosts\":3,"
		      "\"active\":[4,5]},{}]}  ")},
	    {.json = ("{\"jobs\":[{\"job\":\"a\"},{\"job\":\"b\",\"without_key\":3,"
		      "\"reason\":\"loops\"},{\"job\":\"c\"}]}")},
	    {.json = ("{\"links\":[{\"from\":\"0x1f\",\"from_name\":\"S1\",\"port\":3,"
		      "\"to\":\"0x2f\",\"flows\":2}],\"most\":2}    ")},
	    {.json = ("{\"state\":\"waiting\",\"reason\":\"no SM\",\"epoch\":null}")}};
	struct hd_key_client_jobs *jobs = NULL;
	struct hd_key_client_withouts *withouts = NULL;
	struct hd_key_client_links *links = NULL;
	struct hd_key_client_fabric fabric;
	struct scene scene;

	(void)state;
	open_scene(&scene, answers, 4);
	assert_int_equal(hd_key_client_jobs(scene.client, &jobs, &scene.problem), 0);
	assert_int_equal(jobs->count, 2);
	assert_int_equal(jobs->jobs[0].uid, 5);
	assert_int_equal(jobs->jobs[0].active_count, 2);
	assert_int_equal(jobs->jobs[0].phase, 4);
	hd_key_client_jobs_free(jobs);
	assert_int_equal(hd_key_client_without_keys(scene.client, &withouts, &scene.problem), 0);
	assert_int_equal(withouts->count, 1);
	assert_string_equal(withouts->jobs[0].job, "b");
	assert_int_equal(withouts->jobs[0].flows, 3);
	assert_string_equal(withouts->jobs[0].reason, "loops");
	hd_key_client_without_keys_free(withouts);
	assert_int_equal(hd_key_client_links(scene.client, true, &links, &scene.problem), 0);
	assert_int_equal(links->count, 1);
	assert_int_equal(links->links[0].to, 0x2f);
	assert_string_equal(links->links[0].from_name, "S1");
	assert_int_equal(links->most, 2);
	hd_key_client_links_free(links);
	assert_int_equal(hd_key_client_fabric(scene.client, &fabric, &scene.problem), 0);
	assert_string_equal(fabric.state, "waiting");
	assert_string_equal(fabric.reason, "no SM");
	close_scene(&scene);
}

#define WORTH(keys)                                                                                \
	"{\"lost\":0,\"keys\":" keys                                                               \
	",\"contention\":2,\"shared_links\":4294967296,\"leaves\":3,\"pods\":1}"
#define PROPOSAL(names)                                                                            \
	"{\"epoch\":1,\"free\":3,\"hosts\":2,\"ranks\":2,\"phases\":1,\"busy_links\":5,"           \
	"\"stopped\":true,\"listed\":" WORTH("7") ",\"proposed\":" WORTH(                          \
	    "0") ",\"host_of_rank\":" names "}"

/* A proposal has the hosts of its ranks, and what they are worth. A body without choose is a reordering. */
static void test_proposals(void **state)
{
	static const char *const hosts[] = {"a", "b", "down", "c"};
	static const struct scripted_answer answers[] = {
	    {.json = PROPOSAL("[\"c\",\"a\"],\"unknown\":[\"down\"]")},
	    {.json = PROPOSAL("[\"c\"],\"unknown\":[]")}};
	const struct hd_key_client_placement what = {
	    .hosts = hosts, .host_count = 4, .pattern = "ring", .uid = 7, .ranks = 2};
	struct hd_key_client_proposal *proposal = NULL;
	struct scene scene;

	(void)state;
	open_scene(&scene, answers, 2);
	assert_int_equal(hd_key_client_propose(scene.client, &what, 2, &proposal, &scene.problem),
			 0);
	assert_int_equal(proposal->ranks, 2);
	assert_string_equal(proposal->host_of[0], "c");
	assert_string_equal(proposal->host_of[1], "a");
	assert_int_equal(proposal->unknown_count, 1);
	assert_string_equal(proposal->unknown[0], "down");
	assert_int_equal(proposal->listed.keys, 7);
	assert_true(proposal->proposed.shared_links == UINT64_C(1) << 32 && proposal->stopped);
	assert_int_equal(proposal->busy_links, 5);
	hd_key_client_proposal_free(proposal);
	assert_int_equal(hd_key_client_propose(scene.client, &what, 0, &proposal, &scene.problem),
			 0);
	hd_key_client_proposal_free(proposal);
	close_scene(&scene);
	assert_int_equal(strncmp(scene.server.last, "POST /v1/propose HTTP/1.1\r\n", 27), 0);
	assert_non_null(strstr(scene.server.last, "\r\n\r\n{\"hosts\":[\"a\",\"b\",\"down\",\"c\"],"
						  "\"pattern\":\"ring\",\"ranks\":2}"));
}

/* An answer that lacks something, or has it wrong, is no proposal, and leaves no memory. */
static void test_proposals_that_are_wrong(void **state)
{
	static const char *const hosts[] = {"a"};
	static const struct scripted_answer answers[] = {
	    {.json = PROPOSAL("[\"a\",7],\"unknown\":[]")},
	    {.json = PROPOSAL("[\"a\"],\"unknown\":{}")},
	    {.json = PROPOSAL("[],\"unknown\":[\"a\"]")},
	    {.json = "{\"host_of_rank\":[\"a\"],\"unknown\":[]}"}};
	const struct hd_key_client_placement what = {
	    .hosts = hosts, .host_count = 1, .pattern = "ring"};
	struct hd_key_client_proposal *proposal = NULL;
	struct scene scene;

	(void)state;
	open_scene(&scene, answers, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(
		    hd_key_client_propose(scene.client, &what, 0, &proposal, &scene.problem),
		    -EPROTO);
		assert_null(proposal);
	}
	close_scene(&scene);
}

/* Ids become part of a path: what would lead elsewhere is refused, and nothing is sent. */
static void test_refuses_ids(void **state)
{
	static const char *const ids[] = {"",
					  "a/b",
					  "a b",
					  "../x",
					  "a?b",
					  "a\r\nb",
					  "\xc3\xa4",
					  "12345678901234567890123456789012345678901234567890"
					  "123456789012345"};
	struct scene scene;

	(void)state;
	open_scene(&scene, NULL, 0);
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		assert_int_equal(hd_key_client_done(scene.client, ids[i], "0", 0, &scene.problem),
				 -EINVAL);
		assert_int_equal(
		    hd_key_client_layout(scene.client, "1", ids[i], NULL, 0, NULL, NULL), -EINVAL);
	}
	close_scene(&scene);
	assert_int_equal(scene.server.connections, 0);
}

static void test_addresses(void **state)
{
	static const char *const bad[] = {"",		"keyd.sock", "host",   "host:", "host:x",
					  "host:70000", ":80",	     "::1:80", "[]:80", "host:80x"};
	struct hd_key_client_problem problem;
	struct hd_key_client *client = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(hd_key_client_new(bad[i], 100, &client, &problem), -EINVAL);
	unsetenv("HEDDLE_KEYD");
	assert_int_equal(hd_key_client_new(NULL, 100, &client, NULL), 0);
	assert_string_equal(hd_key_client_address(client), HD_KEY_CLIENT_SOCKET);
	hd_key_client_free(client);
	setenv("HEDDLE_KEYD", "/nowhere/keyd.sock", 1);
	assert_int_equal(hd_key_client_new(NULL, 100, &client, NULL), 0);
	assert_int_equal(hd_key_client_done(client, "1", "0", 0, &problem), -ENOENT);
	assert_non_null(strstr(problem.detail, "/nowhere/keyd.sock"));
	assert_non_null(strstr(problem.detail, "systemctl start heddle-keyd"));
	assert_int_equal(problem.status, 0);
	hd_key_client_free(client);
	hd_key_client_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_keeps_the_connection),
	    cmocka_unit_test(test_reads_in_pieces),
	    cmocka_unit_test(test_reconnects),
	    cmocka_unit_test(test_does_not_repeat_on_new_connections),
	    cmocka_unit_test(test_refuses_garbage),
	    cmocka_unit_test(test_short_and_endless_answers),
	    cmocka_unit_test(test_times_out),
	    cmocka_unit_test(test_problem_json),
	    cmocka_unit_test(test_asks_again_when_late),
	    cmocka_unit_test(test_gives_up_when_late),
	    cmocka_unit_test(test_tries_again),
	    cmocka_unit_test(test_hears_a_refusal_of_a_large_body),
	    cmocka_unit_test(test_place),
	    cmocka_unit_test(test_lists),
	    cmocka_unit_test(test_proposals),
	    cmocka_unit_test(test_proposals_that_are_wrong),
	    cmocka_unit_test(test_refuses_ids),
	    cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
