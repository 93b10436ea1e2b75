/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verifier_program.h"

#include <stdlib.h>
#include <string.h>

#define main run_adaptive_change
#define fopen verifier_open
#define malloc(size) verifier_calloc(1, size)
#define calloc verifier_calloc
#define free(block) ((void)(block))
#define exit verifier_exit
#define printf verifier_say
#define puts(text) ((void)0)
#include "../../tools/verify_adaptive_change.c"

int verifier_adaptive_change_main(int count, char **arguments)
{
	memset(&s, 0, sizeof(s));
	memset(&p, 0, sizeof(p));
	memset(&a, 0, sizeof(a));
	memset(&c, 0, sizeof(c));
	return run_adaptive_change(count, arguments);
}
