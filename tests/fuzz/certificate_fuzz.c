/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads any bytes as one of the files of a program of tools; the first byte says of which program, and which file. The
 * others belong to a small ring with lanes and groups. No bytes may do harm. Bytes in place of a
 * certificate, service levels or plan never make other tables right, so what the program accepts is not
 * checked further.
 */
#include "fuzzing.h"

#include "../support/verifier.h"

#include <string.h>

#define HEAD "Switch 3 \"S-000000000020000"

static const char topology[] = HEAD
    "0\" # \"a\" base port 0 lid 1 lmc 0\n[1]\t\"S-0000000000200001\"[2] # \"b\" lid 2\n"
    "[2]\t\"S-0000000000200002\"[1] # \"c\" lid 3\n[3]\t\"H-0000000000100000\"[1](0) # \"x\" lid "
    "4\n" HEAD "1\" # \"b\" base port 0 lid 2 lmc 0\n[1]\t\"S-0000000000200002\"[2] # \"c\" lid 3\n"
    "[2]\t\"S-0000000000200000\"[1] # \"a\" lid 1\n[3]\t\"H-0000000000100001\"[1](0) # \"y\" lid "
    "5\n" HEAD "2\" # \"c\" base port 0 lid 3 lmc 0\n[1]\t\"S-0000000000200000\"[2] # \"a\" lid 1\n"
    "[2]\t\"S-0000000000200001\"[1] # \"b\" lid 2\n"
    "Ca 1 \"H-0000000000100000\" # \"x\"\n[1](0) \t\"S-0000000000200000\"[3] # lid 4 lmc 0 \"a\" "
    "lid 1\n"
    "Ca 1 \"H-0000000000100001\" # \"y\"\n[1](0) \t\"S-0000000000200001\"[3] # lid 5 lmc 0 \"b\" "
    "lid 2\n";
static const char tables[] =
    "Unicast lids [0-5] of switch Lid 1 guid 0x0000000000200000 ('a'):\n"
    "0x0001 000\n0x0002 001\n0x0003 002\n0x0004 003\n0x0005 001\n5 lids dumped\n"
    "Unicast lids [0-5] of switch Lid 2 guid 0x0000000000200001 ('b'):\n"
    "0x0001 002\n0x0002 000\n0x0003 001\n0x0004 002\n0x0005 003\n5 lids dumped\n"
    "Unicast lids [0-5] of switch Lid 3 guid 0x0000000000200002 ('c'):\n"
    "0x0001 001\n0x0002 002\n0x0003 000\n0x0004 001\n0x0005 002\n5 lids dumped\n";
static const char levels[] =
    "SL to VL: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
    "Service levels at switch guid 0x0000000000200000 ('a'):\n0x0004-0x0005 0\n1 runs dumped\n"
    "Service levels at switch guid 0x0000000000200001 ('b'):\n0x0004-0x0005 1\n1 runs dumped\n"
    "2 switches dumped\n";
static const char plan[] =
    "Switch 0x0000000000200000 ('a') table 0\n(Group - Sub-group) : Ports\n0 - 0 : 1,\n"
    "LID : Static port : State : Group\n0x0001 : 0 : static : -\n0x0002 : 1 : static : -\n"
    "0x0003 : 2 : static : -\n0x0004 : 3 : static : -\n0x0005 : 1 : free : 0\n";
/* The tables before a change: switch b sent packets to LID 1 by way of c. */
static const char before[] =
    "Unicast lids [0-5] of switch Lid 1 guid 0x0000000000200000 ('a'):\n"
    "0x0001 000\n0x0002 001\n0x0003 002\n0x0004 003\n0x0005 001\n5 lids dumped\n"
    "Unicast lids [0-5] of switch Lid 2 guid 0x0000000000200001 ('b'):\n"
    "0x0001 001\n0x0002 000\n0x0003 001\n0x0004 002\n0x0005 003\n5 lids dumped\n"
    "Unicast lids [0-5] of switch Lid 3 guid 0x0000000000200002 ('c'):\n"
    "0x0001 001\n0x0002 002\n0x0003 000\n0x0004 001\n0x0005 002\n5 lids dumped\n";
/* With private tables: each LID has four rows. */
static const char private_plan[] =
    "Switch 0x0000000000200000 ('a') table 0\n(Group - Sub-group) : Ports\n0 - 0 : 1,\n"
    "LID : Static port : State : Group\n0x0001 : 0 : static : -\n0x0002 : 1 : static : -\n0x0003 : "
    "2 : static : -\n0x0004 : 3 : static : -\n0x0005 : 1 : static : -\n"
    "Switch 0x0000000000200000 ('a') table 1\n(Group - Sub-group) : Ports\n0 - 0 : 1,\n"
    "LID : Static port : State : Group\n0x0001 : 0 : static : -\n0x0002 : 1 : static : -\n0x0003 : "
    "2 : static : -\n0x0004 : 3 : static : -\n0x0005 : 1 : free : 0\n"
    "Switch 0x0000000000200000 ('a') table 2\n(Group - Sub-group) : Ports\n0 - 0 : 1,\n"
    "LID : Static port : State : Group\n0x0001 : 0 : static : -\n0x0002 : 1 : static : -\n0x0003 : "
    "2 : static : -\n0x0004 : 3 : static : -\n0x0005 : 1 : static : -\n";
static const char private_certificate[] =
    "heddle certificate 2\nunreached 0\nswitches 3\n0x0000000000200000\n0x0000000000200001\n"
    "0x0000000000200002\nabove digits 1\n110\n110\n110\nlane 0 digits 1\n0ff\nf0f\nfff\n"
    "distances 8 digits 1\nf11\nfff\n0ff\nfff\n1ff\nfff\nf0f\nfff\nlids 2\n0x0004 0\n0x0005 4\n"
    "end\n";
static const char certificate[] =
    "heddle certificate 2\nmade 2026-11-27T13:01:02.345Z sweep 3 change 1\nunreached 0\nswitches "
    "3\n0x0000000000200000\n0x0000000000200001\n"
    "0x0000000000200002\nlane 0 digits 1\n0ff\nfff\nfff\nlane 1 digits 1\nfff\nf0f\nfff\n"
    "distances 3 digits 1\n011\n101\n110\nlids 5\n0x0001 0\n0x0002 1\n0x0003 2\n0x0004 0\n0x0005 "
    "1\n"
    "end\n";

/* What each program reads. */
enum { TABLES, ADAPTIVE, PRIVATE, CHANGE, ADAPTIVE_CHANGE, PROGRAMS };

static char change[4096]; /* the certificate, with a step */
static char adaptive_change[4096]; /* with steps for groups */

#define WHOLE(text)                                                                                \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}

static void choose(int program, struct verifier_text texts[VERIFIER_FILES])
{
	const struct verifier_text whole[VERIFIER_FILES] = {
	    WHOLE(certificate), WHOLE(topology), WHOLE(tables), WHOLE(levels),
	    WHOLE(plan),	WHOLE(before),	 WHOLE(plan),
	};

	memcpy(texts, whole, sizeof(whole));
	if (program != CHANGE && program != ADAPTIVE_CHANGE)
		texts[VERIFIER_BEFORE] = (struct verifier_text){NULL, 0};
	else if (program == CHANGE)
		texts[VERIFIER_CERTIFICATE] = (struct verifier_text){change, strlen(change)};
	else
		texts[VERIFIER_CERTIFICATE] =
		    (struct verifier_text){adaptive_change, strlen(adaptive_change)};
	if (program != ADAPTIVE_CHANGE)
		texts[VERIFIER_PLAN_BEFORE] = (struct verifier_text){NULL, 0};
	if (program == TABLES || program == CHANGE)
		texts[VERIFIER_PLAN] = (struct verifier_text){NULL, 0};
	if (program == PRIVATE) {
		texts[VERIFIER_CERTIFICATE] = (struct verifier_text)WHOLE(private_certificate);
		texts[VERIFIER_PLAN] = (struct verifier_text)WHOLE(private_plan);
	}
}

/* The certificate without its last line, the step, and the numbers once more. Before, switch b was farther from LID 1. */
static void make_change(void)
{
	char numbers[sizeof(certificate)];

	snprintf(numbers, sizeof(numbers), "%s", strstr(certificate, "lane 0"));
	memcpy(strstr(numbers, "\n011\n"), "\n021\n", strlen("\n021\n"));

	snprintf(
	    adaptive_change, sizeof(adaptive_change),
	    "%.*sstep 1 entries 1\n0x0005 0 n\n%.*sstep 2 entries 2\n0x0001 1\n0x0005 0 t\n%.*s"
	    "step 3 entries 1\n0x0005 0\n%s",
	    (int)(sizeof(certificate) - 1 - strlen("end\n")), certificate,
	    (int)(strlen(numbers) - strlen("end\n")), numbers,
	    (int)(strlen(numbers) - strlen("end\n")), numbers, numbers);
	snprintf(change, sizeof(change), "%.*sstep 1 entries 1\n0x0001 1\n%s",
		 (int)(sizeof(certificate) - 1 - strlen("end\n")), certificate, numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct verifier_text texts[VERIFIER_FILES];
	const char *reason;
	static bool once;

	if (!once)
		make_change();
	for (int program = 0; !once && program < PROGRAMS; program++) {
		choose(program, texts);
		demand(verifier_run(texts, &reason) == 0);
	}
	once = true;
	if (size < 2)
		return 0;
	choose(*data / VERIFIER_FILES % PROGRAMS, texts);
	texts[*data % VERIFIER_FILES] = (struct verifier_text){(const char *)data + 1, size - 1};
	int status = verifier_run(texts, &reason);
	demand(status == 0 || (status == 1 && *reason));
	return 0;
}
