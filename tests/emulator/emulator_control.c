/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_control.h"
#include "emulator_attributes.h"
#include "emulator_json.h"
#include "emulator_recovery.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#define WORDS_MAX 40

struct command {
	struct proxy *proxy;
	FILE *answer;
	char *words[WORDS_MAX]; /* [count]; the first is the command */
	unsigned count;
	struct node *node; /* NULL: all */
};

static bool fail(struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Answers that the command is wrong. Returns false. */
static bool fail(struct command *command, const char *format, ...)
{
	va_list arguments;

	fputs("{\"error\":\"", command->answer);
	va_start(arguments, format);
	vfprintf(command->answer, format, arguments);
	va_end(arguments);
	fputs("\"}", command->answer);
	return false;
}

static bool number_of(const char *text, uint64_t maximum, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 0);
	return *text && !*end && *number <= maximum;
}

/* The value of a word `key=value`, NULL if it has another key. */
static const char *value_of(const char *word, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static bool set_form(struct capabilities *can, const char *form)
{
	uint32_t bits = 0;

	if (!strcmp(form, "rev1") || !strcmp(form, "both"))
		bits |= 1u << CAPABILITY_AR_REV1;
	if (!strcmp(form, "old") || !strcmp(form, "both"))
		bits |= 1u << CAPABILITY_AR_OLD;
	can->mask[0] =
	    (can->mask[0] & ~(1u << CAPABILITY_AR_REV1 | 1u << CAPABILITY_AR_OLD)) | bits;
	return bits || !strcmp(form, "none");
}

static bool set_plfts(struct capabilities *can, uint64_t plfts)
{
	uint32_t bits = 1u << CAPABILITY_PRIVATE_LFT | 1u << CAPABILITY_SL_TO_PRIVATE_LFT;

	can->mask[0] = plfts ? can->mask[0] | bits : can->mask[0] & ~bits;
	if (plfts)
		can->plfts = (uint8_t)plfts;
	return plfts <= SWITCH_PLFTS_MAX;
}

/* Hexadecimal digits into the bytes from `at` on. */
static bool set_bytes(uint8_t *at, unsigned size, const char *digits)
{
	unsigned count = (unsigned)strlen(digits) / 2;

	if (strlen(digits) % 2 || count > size)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (sscanf(digits + (size_t)2 * i, "%2hhx", &at[i]) != 1)
			return false;
	return true;
}

static bool set_mask(struct capabilities *can, const char *digits)
{
	uint8_t bytes[16] = {0};

	if (!set_bytes(bytes, sizeof(bytes), digits))
		return false;
	for (unsigned word = 0; word < 4; word++)
		can->mask[word] = wire_get32(bytes + (size_t)4 * word);
	return true;
}

/* recovery=none|local|notices */
static bool set_recovery(struct capabilities *can, const char *word)
{
	const bool local = strcmp(word, "none") != 0, notices = !strcmp(word, "notices");
	const uint32_t bit = 1u << CAPABILITY_FAST_RECOVERY % 32;

	can->mask[1] = local ? can->mask[1] | bit : can->mask[1] & ~bit;
	can->record[3] = (uint8_t)(local ? can->record[3] | INFO_RECOVERY_SUPPORTED
					 : can->record[3] & ~INFO_RECOVERY_SUPPORTED);
	can->record[20] = (uint8_t)(notices ? can->record[20] | INFO_NOTICES_SUPPORTED
					    : can->record[20] & ~INFO_NOTICES_SUPPORTED);
	return !local || notices || !strcmp(word, "local");
}

/* One `key=value` of the command set. */
static bool set_capability(struct capabilities *can, const char *word)
{
	uint64_t number = 0;
	const char *value;

	if ((value = value_of(word, "form")))
		return set_form(can, value);
	if ((value = value_of(word, "mask")))
		return set_mask(can, value);
	if ((value = value_of(word, "recovery")))
		return set_recovery(can, value);
	if ((value = value_of(word, "record")))
		return set_bytes(can->record, sizeof(can->record), value);
	if ((value = value_of(word, "plfts")))
		return number_of(value, SWITCH_PLFTS_MAX, &number) && set_plfts(can, number);
	if ((value = value_of(word, "group_cap")) && number_of(value, 4095, &number))
		can->group_cap = (uint16_t)number;
	else if ((value = value_of(word, "subgroups")) && number_of(value, 15, &number))
		can->subgroups = (uint8_t)number;
	else if ((value = value_of(word, "modes")) && number_of(value, 7, &number))
		can->modes = (uint8_t)number;
	else if ((value = value_of(word, "active_minus_one")) && number_of(value, 1, &number))
		can->active_minus_one = number;
	else if ((value = value_of(word, "ageing_time")) && number_of(value, UINT32_MAX, &number))
		can->ageing_time = (uint32_t)number;
	else
		return false;
	return true;
}

/* Changes what the switch can do, and resets it if it is known. */
static void use_capabilities(struct node *node, const struct capabilities *can)
{
	if (!node->sw)
		return;
	node->sw->can = *can;
	switch_reset(node->sw);
}

static bool do_set(struct command *command)
{
	struct nodes *nodes = &command->proxy->nodes;
	struct node *node = command->node;
	struct capabilities can = node && node->own_capabilities ? node->can : nodes->can;

	for (unsigned i = 2; i < command->count; i++)
		if (!set_capability(&can, command->words[i]))
			return fail(command, "cannot set %s", command->words[i]);
	if (node) {
		node->can = can;
		node->own_capabilities = true;
		use_capabilities(node, &can);
		return true;
	}
	nodes->can = can;
	for (uint32_t i = 0; i < nodes->count; i++)
		if (!nodes->list[i]->own_capabilities)
			use_capabilities(nodes->list[i], &can);
	return true;
}

/* ar all|GUID yes|no|default, ar all share=0.67, ar all silent|refuse */
static bool do_ar(struct command *command)
{
	const char *word = command->count > 2 ? command->words[2] : "";
	struct nodes *nodes = &command->proxy->nodes;
	int choice = !strcmp(word, "yes") ? 1 : !strcmp(word, "no") ? 0 : -1;
	const char *share = value_of(word, "share");

	if (command->node && (choice >= 0 || !strcmp(word, "default")))
		command->node->ar = (int8_t)choice;
	else if (!command->node && choice >= 0)
		nodes->share = choice ? 1000 : 0;
	else if (!command->node && share)
		nodes->share = (uint32_t)(strtod(share, NULL) * 1000 + 0.5);
	else if (!command->node && (!strcmp(word, "silent") || !strcmp(word, "refuse")))
		nodes->silent = !strcmp(word, "silent");
	else
		return fail(command, "not understood: %s", word);
	return true;
}

/* states all|GUID yes|no|default, states all share=0.67 */
static bool do_states(struct command *command)
{
	const char *word = command->count > 2 ? command->words[2] : "";
	struct nodes *nodes = &command->proxy->nodes;
	int choice = !strcmp(word, "yes") ? 1 : !strcmp(word, "no") ? 0 : -1;
	const char *share = value_of(word, "share");

	if (command->node && (choice >= 0 || !strcmp(word, "default")))
		command->node->states = (int8_t)choice;
	else if (!command->node && choice >= 0)
		nodes->states_share = choice ? 1000 : 0;
	else if (!command->node && share)
		nodes->states_share = (uint32_t)(strtod(share, NULL) * 1000 + 0.5);
	else
		return fail(command, "not understood: %s", word);
	command->proxy->states = nodes_any_states(nodes);
	return true;
}

/* traps yes|no */
static bool do_traps(struct command *command)
{
	command->proxy->no_traps = command->count > 1 && !strcmp(command->words[1], "no");
	return true;
}

/* hosts yes|no, or without a word: the records of all ports that were asked */
static bool do_hosts(struct command *command)
{
	const struct nodes *nodes = &command->proxy->nodes;
	const char *comma = "";

	if (command->count > 1) {
		command->proxy->nodes.hosts = !strcmp(command->words[1], "yes");
		return true;
	}
	fputc('{', command->answer);
	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct node *node = nodes->list[i];

		for (unsigned port = 1; node->records && port <= node->ports; port++) {
			fprintf(command->answer, "%s\"0x%016" PRIx64 "/%u\":\"", comma, node->guid,
				port);
			for (unsigned at = 0; at < HOST_RECORD; at++)
				fprintf(command->answer, "%02x", node->records[port][at]);
			fputc('"', command->answer);
			comma = ",";
		}
	}
	fputc('}', command->answer);
	return false;
}

static bool fault_attributes(const char *text, struct fault *fault)
{
	uint64_t number;

	fault->first = ATTRIBUTE_VENDOR_FIRST;
	fault->last = ATTRIBUTE_VENDOR_LAST;
	if (!strcmp(text, "vendor"))
		return true;
	fault->first = 0;
	fault->last = 0xFFFF;
	if (!strcmp(text, "all"))
		return true;
	if (!number_of(text, 0xFFFF, &number))
		return false;
	fault->first = fault->last = (uint16_t)number;
	return true;
}

/* The words after the GUID: silent | refuse=STATUS | slow=MS | lose=PERCENT, then attribute=,
 * method= */
static bool fault_of(const struct command *command, struct fault *fault)
{
	uint64_t number = 0;

	fault_attributes("vendor", fault);
	for (unsigned i = 2; i < command->count; i++) {
		const char *word = command->words[i], *value;

		if (!strcmp(word, "silent")) {
			fault->kind = FAULT_SILENT;
		} else if ((value = value_of(word, "refuse")) &&
			   number_of(value, 0x7FFF, &number)) {
			fault->kind = FAULT_REFUSE;
			fault->value = (uint32_t)number;
		} else if ((value = value_of(word, "slow")) && number_of(value, 3600000, &number)) {
			fault->kind = FAULT_SLOW;
			fault->value = (uint32_t)number;
		} else if ((value = value_of(word, "lose"))) {
			fault->kind = FAULT_LOSE;
			fault->value = (uint32_t)(strtod(value, NULL) * 10 + 0.5);
		} else if ((value = value_of(word, "method"))) {
			fault->method = !strcmp(value, "set") ? METHOD_SET : METHOD_GET;
		} else if (!(value = value_of(word, "attribute")) ||
			   !fault_attributes(value, fault)) {
			return false;
		}
	}
	return fault->kind != FAULT_NONE;
}

static bool do_fault(struct command *command)
{
	struct proxy *proxy = command->proxy;
	struct fault fault = {.kind = FAULT_NONE};

	if (!fault_of(command, &fault))
		return fail(command, "no fault understood");
	if (!nodes_add_fault(command->node ? &command->node->faults : &proxy->nodes.faults, &fault))
		return fail(command, "too many faults: heal first");
	proxy->standard_faults = nodes_standard_faults(&proxy->nodes);
	return true;
}

/* Ends all faults of a node, or those of all. */
static bool do_heal(struct command *command)
{
	struct nodes *nodes = &command->proxy->nodes;

	if (command->node)
		command->node->faults.count = 0;
	for (uint32_t i = 0; !command->node && i < nodes->count; i++)
		nodes->list[i]->faults.count = 0;
	if (!command->node)
		nodes->faults.count = 0;
	command->proxy->standard_faults = nodes_standard_faults(nodes);
	return true;
}

static bool do_reset(struct command *command)
{
	struct nodes *nodes = &command->proxy->nodes;

	for (uint32_t i = 0; i < nodes->count; i++)
		if (nodes->list[i]->sw && (!command->node || nodes->list[i] == command->node))
			switch_reset(nodes->list[i]->sw);
	return true;
}

static bool do_counters(struct command *command)
{
	const struct proxy *proxy = command->proxy;
	const struct nodes *nodes = &proxy->nodes;
	const char *comma = "";

	fprintf(command->answer,
		"{\"requests\":%" PRIu64 ",\"probes\":%" PRIu64 ",\"lost\":%" PRIu64
		",\"traps_lost\":%" PRIu64 ",\"waiting\":%" PRIu32 ",\"total\":",
		proxy->requests, proxy->probes_sent, proxy->lost, proxy->traps_lost,
		proxy->delays.count);
	json_counts(command->answer, &nodes->counts);
	fputs(",\"nodes\":{", command->answer);
	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct node *node = nodes->list[i];

		if (!node->counts.count || (command->node && command->node != node))
			continue;
		fprintf(command->answer, "%s\"0x%016" PRIx64 "\":", comma, node->guid);
		json_counts(command->answer, &node->counts);
		comma = ",";
	}
	fputs("}}", command->answer);
	return false;
}

static bool do_zero(struct command *command)
{
	struct proxy *proxy = command->proxy;

	for (uint32_t i = 0; i < proxy->nodes.count; i++)
		proxy->nodes.list[i]->counts.count = 0;
	proxy->nodes.counts.count = 0;
	proxy->requests = proxy->probes_sent = proxy->lost = proxy->traps_lost = 0;
	return true;
}

static bool do_tables(struct command *command)
{
	const struct nodes *nodes = &command->proxy->nodes;
	const char *comma = "";

	fputc('{', command->answer);
	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct node *node = nodes->list[i];

		if (!node->sw || (command->node && command->node != node))
			continue;
		fprintf(command->answer, "%s\"0x%016" PRIx64 "\":", comma, node->guid);
		json_tables(command->answer, node);
		comma = ",";
	}
	fputc('}', command->answer);
	return false;
}

/* ---- fast recovery ---- */

/* lfts on|off */
static bool do_lfts(struct command *command)
{
	command->proxy->lfts = command->count > 1 && !strcmp(command->words[1], "on");
	return true;
}

/* port GUID PORT down|up */
static bool do_port(struct command *command)
{
	uint64_t port;
	bool down = command->count > 3 && !strcmp(command->words[3], "down");

	if (!command->node || command->count != 4 || !number_of(command->words[2], 255, &port) ||
	    (!down && strcmp(command->words[3], "up") != 0))
		return fail(command, "port GUID PORT down|up");
	recovery_port(&command->proxy->nodes, command->node, (uint8_t)port, down);
	return true;
}

/* pass SECONDS */
static bool do_pass(struct command *command)
{
	uint64_t seconds;

	if (command->count != 2 || !number_of(command->words[1], UINT32_MAX, &seconds))
		return fail(command, "pass SECONDS");
	recovery_pass(&command->proxy->nodes, seconds);
	return true;
}

/* masked [WHO] */
static bool do_masked(struct command *command)
{
	const struct nodes *nodes = &command->proxy->nodes;
	const char *comma = "";

	fputc('{', command->answer);
	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct node *node = nodes->list[i];

		if (node->type != NODE_SWITCH || (command->node && command->node != node))
			continue;
		fprintf(command->answer, "%s\"0x%016" PRIx64 "\":", comma, node->guid);
		recovery_put(command->answer, node);
		comma = ",";
	}
	fputc('}', command->answer);
	return false;
}

/* choices GUID LID */
static bool do_choices(struct command *command)
{
	uint64_t lid;

	if (!command->node || command->count != 3 ||
	    !number_of(command->words[2], SWITCH_LIDS - 1, &lid))
		return fail(command, "choices GUID LID");
	recovery_put_ports(command->answer, command->node, (uint16_t)lid);
	return false;
}

/* poke GUID ATTRIBUTE MODIFIER OFFSET HEX: changes bytes of what a switch holds. */
static bool do_poke(struct command *command)
{
	struct nodes *nodes = &command->proxy->nodes;
	uint8_t data[WIRE_DATA_SIZE] = {0};
	uint64_t attribute, modifier, offset;
	struct ar_switch *sw = command->node && nodes_have_ar(nodes, command->node)
				   ? nodes_switch(nodes, command->node)
				   : NULL;
	uint16_t status;

	if (!sw || command->count != 6 || !number_of(command->words[2], 0xFFFF, &attribute) ||
	    !number_of(command->words[3], UINT32_MAX, &modifier) ||
	    !number_of(command->words[4], WIRE_DATA_SIZE - 1, &offset))
		return fail(command, "poke GUID ATTRIBUTE MODIFIER OFFSET HEX");
	attributes_do(sw, METHOD_GET, (uint16_t)attribute, (uint32_t)modifier, data);
	if (!set_bytes(data + offset, (unsigned)(WIRE_DATA_SIZE - offset), command->words[5]))
		return fail(command, "bad bytes: %s", command->words[5]);
	status = attributes_do(sw, METHOD_SET, (uint16_t)attribute, (uint32_t)modifier, data);
	return status ? fail(command, "the switch refuses it, status 0x%04x", status) : true;
}

static bool do_watch(struct command *command)
{
	command->proxy->watch = command->count > 1 && !strcmp(command->words[1], "on");
	return true;
}

/* Opens the file that the command names, instead of the one before it. */
static bool change_file(struct command *command, FILE **file)
{
	if (*file)
		fclose(*file);
	*file = NULL;
	if (command->count < 2 || !strcmp(command->words[1], "off"))
		return true;
	*file = fopen(command->words[1], "w");
	return *file ? true : fail(command, "cannot write %s", command->words[1]);
}

static bool do_trace(struct command *command)
{
	return change_file(command, &command->proxy->trace);
}

static bool do_record(struct command *command)
{
	return change_file(command, &command->proxy->record);
}

/* A command returns true if `ok` is its answer, false if it has written another one. */
static const struct {
	const char *name;
	bool takes_node; /* the first word after it is a GUID or `all` */
	bool (*act)(struct command *command);
} known[] = {
    {"set", true, do_set},	     {"ar", true, do_ar},	  {"fault", true, do_fault},
    {"heal", true, do_heal},	     {"reset", true, do_reset},	  {"poke", true, do_poke},
    {"counters", true, do_counters}, {"tables", true, do_tables}, {"zero", false, do_zero},
    {"hosts", false, do_hosts},	     {"watch", false, do_watch},  {"trace", false, do_trace},
    {"record", false, do_record},    {"states", true, do_states}, {"traps", false, do_traps},
    {"port", true, do_port},	     {"masked", true, do_masked}, {"choices", true, do_choices},
    {"pass", false, do_pass},	     {"lfts", false, do_lfts},
};

static bool find_node(struct command *command)
{
	const char *word = command->count > 1 ? command->words[1] : "all";
	uint64_t guid;

	if (!strcmp(word, "all"))
		return true;
	if (!number_of(word, UINT64_MAX, &guid))
		return fail(command, "neither a GUID nor 'all': %s", word);
	command->node = nodes_get(&command->proxy->nodes, guid);
	return command->node ? true : fail(command, "no memory");
}

static void split(struct command *command, char *line)
{
	char *rest = line, *word;

	while (command->count < WORDS_MAX && (word = strsep(&rest, " \t\r\n")))
		if (*word)
			command->words[command->count++] = word;
}

bool control_command(struct proxy *proxy, char *line, FILE *answer)
{
	struct command command = {.proxy = proxy, .answer = answer};
	unsigned i = 0, count = sizeof(known) / sizeof(known[0]);
	bool quit;

	split(&command, line);
	quit = command.count && !strcmp(command.words[0], "quit");
	while (command.count && i < count && strcmp(known[i].name, command.words[0]))
		i++;
	if (!command.count || (i == count && !quit))
		fail(&command, "unknown command");
	else if (quit || ((!known[i].takes_node || find_node(&command)) && known[i].act(&command)))
		fputs("{\"ok\":true}", answer);
	fputc('\n', answer);
	return !quit;
}
