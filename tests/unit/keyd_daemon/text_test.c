/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <keyd_http.h>
#include <keyd_text.h>

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 2000 };

static uint32_t draw(uint64_t *seed, uint32_t limit)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % limit;
}

/* Any bytes, mostly plain ones. */
static void draw_name(uint64_t *seed, char *name, uint32_t most)
{
	uint32_t length = draw(seed, most), odd = draw(seed, 3);

	for (uint32_t i = 0; i < length; i++)
		name[i] = (char)(odd ? 'a' + draw(seed, 26) : 1 + draw(seed, 255));
	name[length] = '\0';
}

/* A list of objects, as jansson writes it: the slow way. */
static json_t *slow(const char *name, uint64_t number, uint64_t guid)
{
	json_t *text = json_string(name);
	char digits[24];

	snprintf(digits, sizeof(digits), "0x%016llx", (unsigned long long)guid);
	return json_pack("{s:o, s:I, s:s}", "name", text ? text : json_string("?"), "number",
			 (json_int_t)number, "guid", digits);
}

/* What is written is, byte by byte, what jansson writes. */
static void test_same_as_jansson(void **state)
{
	struct keyd_writer writer = {.room = 0};
	json_t *list = json_array();
	struct keyd_text *text;
	uint64_t seed = 1;
	char *expected;

	(void)state;
	keyd_write(&writer, "[");
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t number = (uint64_t)draw(&seed, 1u << 30) << draw(&seed, 32);
		char name[64];

		draw_name(&seed, name, sizeof(name));
		json_array_append_new(list, slow(name, number, ~number));
		keyd_write_comma(&writer);
		keyd_write(&writer, "{");
		keyd_write_name(&writer, "name");
		keyd_write_string(&writer, name);
		keyd_write_name(&writer, "number");
		keyd_write_number(&writer, number);
		keyd_write_name(&writer, "guid");
		keyd_write_guid(&writer, ~number);
		keyd_write(&writer, "}");
	}
	keyd_write(&writer, "]");
	text = keyd_writer_end(&writer);
	expected = json_dumps(list, JSON_COMPACT);
	assert_string_equal(text->bytes, expected);
	assert_int_equal(text->length, strlen(expected));
	keyd_text_hold(text);
	keyd_text_release(text);
	assert_string_equal(text->bytes, expected);
	keyd_text_release(text);
	keyd_text_release(NULL);
	free(expected);
	json_decref(list);
}

/* Connections of one user are one party, and those of others are not. */
static void test_parties(void **state)
{
	const struct keyd_peer user = {.unix_socket = true, .uid = 5};
	const struct keyd_peer other = {.unix_socket = true, .uid = 6};
	const struct keyd_peer near = {.address = {1}}, far = {.address = {2}};
	void *tree = NULL;
	struct keyd_party *first = keyd_party_join(&tree, &user);
	struct keyd_party *all[] = {first, keyd_party_join(&tree, &user),
				    keyd_party_join(&tree, &other), keyd_party_join(&tree, &near),
				    keyd_party_join(&tree, &far)};

	(void)state;
	assert_ptr_equal(all[1], first);
	assert_int_equal(first->members, 2);
	for (unsigned i = 2; i < 5; i++)
		for (unsigned j = 0; j < i; j++)
			assert_ptr_not_equal(all[i], all[j]);
	for (unsigned i = 0; i < 5; i++)
		keyd_party_leave(&tree, all[i]);
	keyd_party_leave(&tree, NULL);
	assert_null(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_as_jansson),
	    cmocka_unit_test(test_parties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
