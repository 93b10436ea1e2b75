/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of words: which words they contain, and which files are refused, with the line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/base/text.h>

static struct hd_words words_of(struct hd_text *text, const char *content)
{
	struct hd_words words;
	struct hd_error err = {""};

	*text = (struct hd_text){.bytes = content, .length = strlen(content), .name = "names"};
	if (hd_words_begin(&words, text, &err))
		fail_msg("%s", err.text);
	return words;
}

/* All words of the text, each line as "NUMBER:WORD|WORD;" */
static void assert_words(const char *content, const char *expected)
{
	struct hd_text text;
	struct hd_words words = words_of(&text, content);
	struct hd_error err = {""};
	char got[512] = "";
	size_t used = 0;
	int rc;

	while ((rc = hd_words_next(&words, &err)) > 0) {
		used += (size_t)snprintf(got + used, sizeof(got) - used, "%u:", words.lines.number);
		for (unsigned i = 0; i < words.count && i < HD_WORDS_MAX; i++)
			used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%s",
						 i ? "|" : "", words.word[i]);
		used += (size_t)snprintf(got + used, sizeof(got) - used, "%s",
					 words.count > HD_WORDS_MAX ? "|...;" : ";");
	}
	if (rc)
		fail_msg("%s", err.text);
	assert_string_equal(got, expected);
}

static void words_stand_between_blanks_or_in_quotes(void **state)
{
	(void)state;
	assert_words("a b\tc\n", "1:a|b|c;");
	assert_words("\xEF\xBB\xBF \"a b\" c \r\n", "1:a b|c;");
	assert_words("\"a # b\"\"c\"d", "1:a # b|c|d;");
	assert_words("\"\" x", "1:|x;");
	assert_words("a b c d e\n", "1:a|b|c|...;");
}

static void comments_and_empty_lines_are_skipped(void **state)
{
	(void)state;
	assert_words("# a\n\n \t \r\na # b\nc#d\n#\n", "4:a;5:c;");
	assert_words("\n", "");
}

static void assert_refused(const char *content, bool names, const char *expected)
{
	struct hd_text text;
	struct hd_words words = words_of(&text, content);
	struct hd_error err = {""};
	int rc;

	do
		rc = names ? hd_words_next_name(&words, &err) : hd_words_next(&words, &err);
	while (rc > 0);
	assert_int_equal(rc, -EINVAL);
	if (!strstr(err.text, expected))
		fail_msg("'%s' does not say '%s'", err.text, expected);
}

static void what_is_no_word_is_refused_with_its_line(void **state)
{
	char word[HD_WORD_SIZE + 1];

	(void)state;
	assert_refused("a\n\"b c\n", false, "names:2: a quote is not closed: '\"b c'");
	assert_refused("a\nb c\n", true, "names:2: more than one word, expected one name a line");
	memset(word, 'w', sizeof(word));
	word[HD_WORD_SIZE - 1] = '\0';
	char expected[HD_WORD_SIZE + 8];
	snprintf(expected, sizeof(expected), "1:%s;", word);
	assert_words(word, expected);
	word[HD_WORD_SIZE - 1] = 'w';
	word[HD_WORD_SIZE] = '\0';
	assert_refused(word, false, "names:1: a word has 256 bytes, expected at most 255");
}

static void what_is_no_text_is_refused_at_once(void **state)
{
	struct hd_words words;
	struct hd_error err = {""};
	const struct hd_text zero = {.bytes = "a\nb\0c", .length = 5, .name = "names"};
	const struct hd_text empty = {.bytes = "", .name = "names"};
	const struct hd_text packed = {.bytes = "\x1f\x8b\x08", .length = 3, .name = "names"};

	(void)state;
	assert_int_equal(hd_words_begin(&words, &packed, &err), -EINVAL);
	assert_string_equal(err.text,
			    "names: the file is compressed, expected text; unpack it with "
			    "gunzip first");
	assert_int_equal(hd_words_begin(&words, &zero, &err), -EINVAL);
	assert_string_equal(err.text, "names:2: a zero byte, expected text");
	assert_int_equal(hd_words_begin(&words, &empty, &err), -ENODATA);
	assert_string_equal(err.text, "names: the file is empty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words_stand_between_blanks_or_in_quotes),
	    cmocka_unit_test(comments_and_empty_lines_are_skipped),
	    cmocka_unit_test(what_is_no_word_is_refused_with_its_line),
	    cmocka_unit_test(what_is_no_text_is_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
