/* Messages for Slack and mail: no text of a run can add a header, a link or a mention. */
#include <criterion/criterion.h>

#include "base/base64.h"
#include "tool/notify_message.h"

static struct arena arena;

static const struct run_webhook_payload *payload_of(const char *text)
{
	struct run_webhook_payload *payload = run_webhook_payload_new(&arena);
	SET(payload, event, RUN_WEBHOOK_EVENT_MESSAGE);
	SET(payload, text, str_from_c(text));
	SET(payload, link, S("https://b/?a=1&b=2"));
	return payload;
}

static struct str mail_of(const char *text)
{
	static struct str to[] = { { "a@x.org", 7 }, { "b@x.org", 7 } };
	const struct notify_mail mail = { .from = S("baton@x.org"),
					  .to = { to, 2 },
					  .delivery = { { 1 } },
					  .now = INT64_C(1700000000) * 1000000 };
	return notify_message_mail(payload_of(text), &mail, &arena);
}

static bool contains(struct str text, const char *part)
{
	size_t at;
	return str_find(text, str_from_c(part), &at);
}

Test(notify_message, slack_is_escaped)
{
	struct str body = notify_message_slack(payload_of("<!channel> & <b|c>"), &arena);
	cr_expect(str_equal(body, S("{\"text\":\"&lt;!channel&gt; &amp; &lt;b|c&gt;\\n"
				    "<https://b/?a=1&amp;b=2|Open the run>\"}")),
		  STR_FMT, STR_ARG(body));
}

Test(notify_message, a_mail_is_ascii_in_short_lines)
{
	struct str mail = mail_of("Größe ändern, und zwar für alle Häuser in dieser Straße, bitte?"
				  "\r\nBcc: evil@x.org");
	struct str rest = mail, line;
	bool head = true;
	cr_expect(contains(mail, "Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n"));
	cr_expect(contains(mail, "Message-ID: <01000000-0000-0000-0000-000000000000@baton>\r\n"));
	cr_expect(contains(mail, "To: <a@x.org>,\r\n <b@x.org>\r\n"));
	while (str_cut(&rest, '\n', &line)) {
		cr_expect(line.size <= 78, STR_FMT, STR_ARG(line));
		for (size_t i = 0; i < line.size; i++)
			cr_expect((uint8_t)line.at[i] < 0x80);
		head &= line.size > 1;
		cr_expect(!head || !str_starts(line, S("Bcc:")));
	}
	cr_expect(contains(mail, "Subject: =?UTF-8?B?"));
}

Test(notify_message, subjects_are_cut_between_characters)
{
	/* Two bytes each, at every offset. */
	char text[120];
	for (size_t shift = 0; shift < 4; shift++) {
		size_t size = 0;
		while (size < shift)
			text[size++] = 'x';
		while (size + 3 < sizeof(text)) {
			text[size++] = (char)0xc3;
			text[size++] = (char)0xa4;
		}
		text[size] = '\0';
		struct str rest = mail_of(text), line, word, bytes;
		while (str_cut(&rest, '\n', &line)) {
			size_t at;
			if (!str_find(line, S("=?UTF-8?B?"), &at))
				continue;
			word = str_skip(line, at + 10);
			cr_assert(str_find(word, S("?="), &at));
			cr_assert(base64_read(&arena, str_head(word, at), &bytes));
			cr_expect_neq((uint8_t)bytes.at[0] & 0xc0, 0x80);
		}
	}
}
