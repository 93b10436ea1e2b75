/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interrupt.h"

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
