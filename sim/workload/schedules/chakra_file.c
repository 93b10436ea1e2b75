/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of Chakra traces: protocol buffers, one message after its length, first the metadata, then the nodes.
 *
 * chakra.c calls chakra_file_parse() for each rank's file, and takes the nodes one by one. Lengths and fields are
 * checked here, and memory that a message may ask for is bounded by the file's size, since the files come from
 * elsewhere. chakra_file_number() and chakra_file_text() find attributes of a node by name, whatever type the writer
 * chose.
 */
#include "chakra_file.h"

#include <errno.h>
#include <heddle/base/gzip.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* protobuf-c returns the same for a message that is none and for want of memory. This allocator notes
 * the latter: its data are a bool. */
static void *chakra_file_allocate(void *failed, size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		*(bool *)failed = true;
	return memory;
}

static void chakra_file_release(void *failed, void *memory)
{
	(void)failed;
	free(memory);
}

#define MESSAGE_MOST ((size_t)1 << 20) /* while it unpacks one, protobuf-c takes 50 times this */

/* Takes the length that is before each message. False: it is cut off, or too long. */
static bool take_length(struct chakra_file *file, size_t *length)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 35 && file->at < file->text.length; shift += 7) {
		unsigned char byte = (unsigned char)file->text.bytes[file->at++];
		value |= (uint64_t)(byte & 0x7F) << shift;
		if (byte & 0x80)
			continue;
		*length = (size_t)value;
		return value <= file->text.length - file->at;
	}
	return false;
}

/* The bytes of the next message: 1; 0: the file ends here. Errors: -EINVAL. */
static int next_message(struct chakra_file *file, const uint8_t **bytes, size_t *length,
			struct hd_error *err)
{
	if (file->at == file->text.length)
		return 0;
	file->messages++;
	if (!take_length(file, length))
		return hd_error_set(err, -EINVAL, "%s: message %" PRIu32 " is cut off",
				    file->text.name, file->messages);
	if (*length > MESSAGE_MOST)
		return hd_error_set(err, -EFBIG,
				    "%s: message %" PRIu32
				    " has %zu bytes, the most allowed are %zu: "
				    "let nodes between wait for parts of its dependencies",
				    file->text.name, file->messages, *length, MESSAGE_MOST);
	*bytes = (const uint8_t *)file->text.bytes + file->at;
	file->at += *length;
	return 1;
}

static int refuse_message(const struct chakra_file *file, const char *what, bool failed,
			  struct hd_error *err)
{
	if (failed)
		return hd_error_no_memory(err);
	return hd_error_set(err, -EINVAL, "%s: message %" PRIu32 " is no %s of a Chakra trace",
			    file->text.name, file->messages, what);
}

static int read_metadata(struct chakra_file *file, struct hd_error *err)
{
	bool failed = false;
	ProtobufCAllocator memory = {chakra_file_allocate, chakra_file_release, &failed};
	const uint8_t *bytes;
	size_t length;
	int rc = next_message(file, &bytes, &length, err);

	if (!rc)
		return hd_error_set(err, -ENODATA, "%s: the file is empty", file->text.name);
	if (rc < 0)
		return rc;
	Chakra__Metadata *metadata = chakra__metadata__unpack(&memory, length, bytes);
	if (!metadata)
		return refuse_message(file, "metadata", failed, err);
	chakra__metadata__free_unpacked(metadata, &memory);
	return 0;
}

static int visit_node(const struct chakra_file *file, const Chakra__Node *node, chakra_visit *visit,
		      void *context, struct hd_error *err)
{
	int rc;

	if (node->type < CHAKRA_METADATA || node->type >= CHAKRA_TYPE_END)
		rc = hd_error_set(err, -EINVAL, "unknown type %" PRId32 ", expected %d .. %d",
				  node->type, CHAKRA_METADATA, CHAKRA_TYPE_END - 1);
	else
		rc = visit(context, node, err);
	return rc && rc != -ENOMEM
		   ? hd_error_prefix(err, rc, "%s: node %" PRIu64, file->text.name, node->id)
		   : rc;
}

static int read_nodes(struct chakra_file *file, chakra_visit *visit, void *context,
		      struct hd_error *err)
{
	bool failed = false;
	ProtobufCAllocator memory = {chakra_file_allocate, chakra_file_release, &failed};
	const uint8_t *bytes;
	size_t length;
	int rc = read_metadata(file, err);

	while (!rc && (rc = next_message(file, &bytes, &length, err)) == 1) {
		Chakra__Node *node = chakra__node__unpack(&memory, length, bytes);
		if (!node)
			return refuse_message(file, "node", failed, err);
		rc = visit_node(file, node, visit, context, err);
		chakra__node__free_unpacked(node, &memory);
	}
	return rc;
}

int chakra_file_parse(const char *bytes, size_t length, const char *name, chakra_visit *visit,
		      void *context, struct hd_error *err)
{
	struct chakra_file file = {.text = {.bytes = bytes, .length = length, .name = name}};

	return read_nodes(&file, visit, context, err);
}

int chakra_file_nodes(const char *path, chakra_visit *visit, void *context, struct hd_error *err)
{
	struct chakra_file file = {.at = 0};
	int rc = hd_gzip_open(path, &file.text, err);

	if (rc)
		return rc;
	rc = read_nodes(&file, visit, context, err);
	hd_text_close(&file.text);
	return rc;
}

static const Chakra__Attribute *chakra_file_find(const Chakra__Node *node, const char *name)
{
	for (size_t i = 0; i < node->n_attr; i++)
		if (!strcmp(node->attr[i]->name, name))
			return node->attr[i];
	return NULL;
}

/* False: it is no number. */
static bool number_of(const Chakra__Attribute *attribute, bool *negative, uint64_t *number)
{
	int64_t value;

	*negative = false;
	switch (attribute->value_case) {
	case CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL:
		*number = attribute->uint32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
		*number = attribute->uint64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_FIXED32_VAL:
		*number = attribute->fixed32_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_FIXED64_VAL:
		*number = attribute->fixed64_val;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL:
		*number = attribute->bool_val != 0;
		return true;
	case CHAKRA__ATTRIBUTE__VALUE_INT32_VAL:
		value = attribute->int32_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_SINT32_VAL:
		value = attribute->sint32_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_SFIXED32_VAL:
		value = attribute->sfixed32_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_INT64_VAL:
		value = attribute->int64_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_SINT64_VAL:
		value = attribute->sint64_val;
		break;
	case CHAKRA__ATTRIBUTE__VALUE_SFIXED64_VAL:
		value = attribute->sfixed64_val;
		break;
	default:
		return false;
	}
	*negative = value < 0;
	*number = (uint64_t)value;
	return true;
}

int chakra_file_number(const Chakra__Node *node, const char *name, uint64_t *number,
		       struct hd_error *err)
{
	const Chakra__Attribute *attribute = chakra_file_find(node, name);
	bool negative;

	if (!attribute)
		return 0;
	if (!number_of(attribute, &negative, number))
		return hd_error_set(err, -EINVAL, "attribute %s is no whole number", name);
	if (negative)
		return hd_error_set(err, -EINVAL, "attribute %s is below 0", name);
	return 1;
}

const char *chakra_file_text(const Chakra__Node *node, const char *name)
{
	const Chakra__Attribute *attribute = chakra_file_find(node, name);

	return attribute && attribute->value_case == CHAKRA__ATTRIBUTE__VALUE_STRING_VAL
		   ? attribute->string_val
		   : "";
}
