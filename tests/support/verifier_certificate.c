/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "verifier_program.h"

#include <stdlib.h>
#include <string.h>

#define main run_certificate
#define fopen verifier_open
#define malloc(size) verifier_calloc(1, size)
#define calloc verifier_calloc
#define free(block) ((void)(block))
#define exit verifier_exit
#define printf verifier_say
#define puts(text) ((void)0)
#include "../../tools/verify_certificate.c"

int verifier_certificate_main(int count, char **arguments)
{
	memset(&s, 0, sizeof(s));
	memset(&p, 0, sizeof(p));
	return run_certificate(count, arguments);
}
