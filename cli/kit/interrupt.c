/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interrupt.h"
#include "message.h"

#include <errno.h>
#include <signal.h>

static volatile sig_atomic_t came, caught;

static void take_signal(int number)
{
	(void)number;
	came = 1;
}

void interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = take_signal, .sa_flags = (int)SA_RESETHAND};

	if (caught)
		return;
	caught = 1;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool interrupt_came(void)
{
	return came;
}

static bool ask(void *context)
{
	(void)context;
	return !came;
}

const struct hd_go_on interrupt_go_on = {ask, NULL};

int interrupt_fail(int rc, const struct hd_error *err)
{
	if (rc != -ECANCELED || !came)
		return message_fail(err);
	message_error("ended early, before there was anything to report");
	return STATUS_FAULTS;
}
