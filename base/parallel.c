/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/parallel.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct loop {
	hd_parallel_fn *fn;
	void *context;
	uint32_t count, grain;
	const struct hd_go_on *go_on; /* NULL: always */
	atomic_uint next; /* next chunk */
	atomic_bool stopped;
};

struct worker {
	struct loop *loop;
	unsigned index;
	pthread_t thread;
};

unsigned hd_parallel_workers(unsigned threads)
{
	return threads == 0 ? 1 : threads > HD_THREADS_MAX ? HD_THREADS_MAX : threads;
}

unsigned hd_parallel_cores(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (online < 1)
		return 1;
	return online > (long)HD_THREADS_MAX ? HD_THREADS_MAX : (unsigned)online;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct loop *loop = worker->loop;
	uint32_t chunks = loop->count / loop->grain + (loop->count % loop->grain != 0);

	for (uint32_t chunk; (chunk = atomic_fetch_add(&loop->next, 1)) < chunks;) {
		if (!hd_go_on_ask(loop->go_on)) {
			atomic_store(&loop->stopped, true);
			break;
		}
		uint32_t begin = chunk * loop->grain;
		uint32_t length =
		    loop->count - begin < loop->grain ? loop->count - begin : loop->grain;
		loop->fn(loop->context, begin, begin + length, worker->index);
	}
	return NULL;
}

int hd_parallel_for_while(unsigned threads, uint32_t count, uint32_t grain, hd_parallel_fn *fn,
			  void *context, const struct hd_go_on *go_on)
{
	struct worker workers[HD_THREADS_MAX];
	struct loop loop = {.fn = fn,
			    .context = context,
			    .count = count,
			    .grain = grain ? grain : 1,
			    .go_on = go_on};
	unsigned wanted = hd_parallel_workers(threads), started = 1;
	uint32_t chunks = count / loop.grain + (count % loop.grain != 0);

	if (wanted > chunks)
		wanted = chunks;
	workers[0] = (struct worker){.loop = &loop, .index = 0};
	for (; started < wanted; started++) {
		workers[started] = (struct worker){.loop = &loop, .index = started};
		if (pthread_create(&workers[started].thread, NULL, work, &workers[started]))
			break;
	}
	work(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	return atomic_load(&loop.stopped) ? -ECANCELED : 0;
}

void hd_parallel_for(unsigned threads, uint32_t count, uint32_t grain, hd_parallel_fn *fn,
		     void *context)
{
	hd_parallel_for_while(threads, count, grain, fn, context, NULL);
}
