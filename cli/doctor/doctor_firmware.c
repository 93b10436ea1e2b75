/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor_site.h"
#include "need.h"
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HEDDLE_MAD

#include <heddle/ar_manager/firmware.h>
#include <heddle/mad/queue.h>

#define TIMEOUT_MS 250u
#define RETRIES 1u

_Static_assert(HD_FIRMWARE_DATA == HD_GMP_DATA, "a MAD of the vendor's class");

struct answer {
	struct hd_gmp gmp;
	bool known;
	struct hd_firmware firmware;
};

static void take(void *cookie, const struct hd_smp_result *result)
{
	struct answer *answer = cookie;

	answer->known = !result->rc;
	if (answer->known)
		hd_firmware_decode(answer->gmp.data, &answer->firmware);
}

static int compare(const void *a, const void *b)
{
	const struct hd_firmware *x = &((const struct answer *)a)->firmware;
	const struct hd_firmware *y = &((const struct answer *)b)->firmware;
	const uint32_t left[] = {x->device, x->major, x->minor, x->sub_minor};
	const uint32_t right[] = {y->device, y->major, y->minor, y->sub_minor};

	for (unsigned i = 0; i < 4; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

static void append(char text[HD_ERROR_TEXT], const struct hd_firmware *firmware, uint32_t count)
{
	const size_t used = strlen(text);

	snprintf(text + used, HD_ERROR_TEXT - used,
		 "%s%" PRIu32 ".%" PRIu32 ".%" PRIu32 " (%" PRIu32 ")", used ? ", " : "",
		 firmware->major, firmware->minor, firmware->sub_minor, count);
}

/* The switches of one kind of device: answers[count] in the order of their versions. */
static void report_kind(struct doctor_site *site, const struct answer *answers, uint32_t count)
{
	char versions[HD_ERROR_TEXT] = "";
	uint32_t different = 0, first = 0;

	for (uint32_t i = 1; i <= count; i++)
		if (i == count || compare(&answers[first], &answers[i])) {
			append(versions, &answers[first].firmware, i - first);
			different++;
			first = i;
		}
	doctor_report_add(
	    &site->report, different > 1 ? DOCTOR_WARNING : DOCTOR_NOTE, "",
	    different > 1 ? "give switches of one kind the same firmware; vendstat -N LID shows it"
			  : "",
	    "firmware of switches of device 0x%04x: %s", answers->firmware.device, versions);
}

void doctor_check_firmware(struct doctor_site *site, const struct hd_smp_port *port)
{
	const uint32_t switches = site->fabric->switch_count;
	struct answer *answers = need(calloc(switches + 1u, sizeof(*answers)));
	uint32_t count = 0, first = 0;

	doctor_report_begin(&site->report, "firmware");
	struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	limits.timeout_ms = TIMEOUT_MS;
	limits.retries = RETRIES;
	struct hd_smp_queue *queue =
	    need(hd_smp_queue_new(port, &limits, site->fabric->switch_count));
	for (uint32_t sw = 0; sw < site->fabric->switch_count; sw++) {
		const struct hd_smp_address address = {
		    .lid = site->fabric->lid[site->fabric->port_base[sw]]};
		const struct hd_smp smp = {.method = HD_SMP_GET,
					   .attribute = HD_FIRMWARE_ATTRIBUTE,
					   .gmp = &answers[sw].gmp};
		if (!address.lid)
			continue;
		answers[sw].gmp = (struct hd_gmp){.class = HD_FIRMWARE_CLASS, .lid = address.lid};
		hd_smp_queue_aim(queue, sw, &address);
		need_enough(hd_smp_queue_submit(queue, sw, &smp, take, &answers[sw]));
	}
	progress_begin("asking the fabric: firmware");
	need_enough(hd_smp_queue_run(queue));
	progress_end();
	hd_smp_queue_free(queue);
	for (uint32_t sw = 0; sw < switches; sw++)
		if (answers[sw].known)
			answers[count++] = answers[sw];
	if (!count)
		doctor_report_skip(&site->report,
				   "no switch has answered GeneralInfo of the vendor's class");
	else
		qsort(answers, count, sizeof(*answers), compare);
	for (uint32_t i = 1; i <= count; i++)
		if (i == count || answers[i].firmware.device != answers[first].firmware.device) {
			report_kind(site, &answers[first], i - first);
			first = i;
		}
	free(answers);
}
#endif
