/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <heddle/mad/queue.h>
#include <string.h>

struct question {
	bool ended;
	int rc;
	uint16_t status;
	uint8_t answer[HD_SMP_DATA];
};

static void on_answer(void *cookie, const struct hd_smp_result *result)
{
	struct question *question = cookie;

	question->ended = true;
	question->rc = result->rc;
	question->status = result->status;
	if (result->data)
		memcpy(question->answer, result->data, sizeof(question->answer));
}

/* A request must not outlive its cookie. */
static int abandon(struct hd_smp_queue *queue, uint32_t destination,
		   const struct question *question, int rc)
{
	hd_smp_queue_cancel(queue, destination);
	while (!question->ended)
		hd_smp_queue_work(queue);
	return rc;
}

int hd_smp_queue_ask(struct hd_smp_queue *queue, uint32_t destination, const struct hd_smp *smp,
		     uint8_t *answer, uint16_t *status)
{
	struct question question = {.ended = false};
	int rc = hd_smp_queue_submit(queue, destination, smp, on_answer, &question);

	if (rc)
		return rc;
	rc = hd_smp_queue_work(queue);
	while (!rc && !question.ended) {
		hd_smp_queue_wait(queue);
		rc = hd_smp_queue_work(queue);
	}
	if (!question.ended)
		return abandon(queue, destination, &question, rc);
	if (status)
		*status = question.status;
	if (!question.rc)
		memcpy(answer, question.answer, sizeof(question.answer));
	return question.rc;
}
