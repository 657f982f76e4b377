/* tool/notify_message.c -- builds messages for Slack and for mail.
 *
 * Texts come from definitions, models and people.  In a mail they stand only in encoded words and in
 * a base64 body, so that no text can add a header; for Slack, the three characters with a meaning are
 * escaped, so that no text can add a link or a mention.
 */
#include "tool/notify_message.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/date.h"
#include "base/limits.h"
#include "tool/tool_text.h"

static struct str link_words(const struct run_webhook_payload *payload)
{
	return has(payload, question) ? S("Open the question") : S("Open the run");
}

/* ---- Slack --------------------------------------------------------------------------- */

static void add_escaped(struct buf *text, struct str plain)
{
	for (size_t i = 0; i < plain.size; i++) {
		char c = plain.at[i];
		if (c == '&')
			buf_add(text, S("&amp;"));
		else if (c == '<')
			buf_add(text, S("&lt;"));
		else if (c == '>')
			buf_add(text, S("&gt;"));
		else
			buf_add_char(text, c);
	}
}

struct str notify_message_slack(const struct run_webhook_payload *payload, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	AUTO(buf) body = { 0 };
	struct json_writer writer = { .out = &body };
	add_escaped(&text, payload->text);
	if (has(payload, link)) {
		struct str words = link_words(payload);
		buf_add_char(&text, '\n');
		buf_add_char(&text, '<');
		add_escaped(&text, payload->link);
		buf_add_format(&text, "|" STR_FMT ">", STR_ARG(words));
	}
	json_open(&writer, '{');
	json_key(&writer, S("text"));
	json_put_str(&writer, buf_str(&text));
	json_close(&writer, '}');
	return str_copy(arena, buf_str(&body));
}

/* ---- mail ---------------------------------------------------------------------------- */

enum {
	WORD_BYTES = 42, /* of a subject in one encoded word, which may have 75 characters */
	LINE_BYTES = 57, /* in one line of base64, 76 characters */
};

static void add_date(struct buf *mail, int64_t now)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	int64_t seconds = date_floor_divide(now, 1000000), day = date_floor_divide(seconds, 86400);
	struct date date = date_from_days(day);
	int64_t rest = seconds - day * 86400;
	buf_add_format(mail, "Date: %.3s, %02d %.3s %04lld %02lld:%02lld:%02lld +0000\r\n",
		       days + (size_t)date_weekday(day) * 3, date.day,
		       months + (size_t)(date.month - 1) * 3, (long long)date.year,
		       (long long)(rest / 3600), (long long)(rest / 60 % 60),
		       (long long)(rest % 60));
}

/* The first line of the text, as encoded words of whole characters. */
static void add_subject(struct buf *mail, struct str text)
{
	AUTO(arena) arena = { 0 };
	struct str line;
	str_cut(&text, '\n', &line);
	line = tool_context_whole_characters(
		str_head(line, line.size < 200 ? line.size : (size_t)200));
	buf_add(mail, S("Subject: "));
	for (bool first = true; line.size > 0; first = false) {
		struct str part = line;
		if (part.size > WORD_BYTES)
			part = tool_context_whole_characters(str_head(line, WORD_BYTES));
		if (part.size == 0)
			break;
		buf_add_format(mail, "%s=?UTF-8?B?" STR_FMT "?=", first ? "" : "\r\n ",
			       STR_ARG(base64_text(&arena, part)));
		line = str_skip(line, part.size);
	}
	buf_add(mail, S("\r\n"));
}

static void add_body(struct buf *mail, struct str text)
{
	AUTO(arena) arena = { 0 };
	while (text.size > 0) {
		struct str part = str_head(text, text.size < LINE_BYTES ? text.size : LINE_BYTES);
		buf_add_format(mail, STR_FMT "\r\n", STR_ARG(base64_text(&arena, part)));
		text = str_skip(text, part.size);
	}
}

static void add_details(struct buf *text, const struct run_webhook_payload *payload)
{
	if (has(payload, question) && has(payload->question, choices)) {
		buf_add(text, S("\r\n\r\nPossible answers:"));
		for (size_t i = 0; i < payload->question->choices.count; i++)
			buf_add_format(text, "%s " STR_FMT, i == 0 ? "" : ",",
				       STR_ARG(payload->question->choices.at[i]));
	}
	if (has(payload, link)) {
		struct str words = link_words(payload);
		buf_add_format(text, "\r\n\r\n" STR_FMT ": " STR_FMT, STR_ARG(words),
			       STR_ARG(payload->link));
	}
	buf_add(text, S("\r\n"));
}

struct str notify_message_mail(const struct run_webhook_payload *payload,
			       const struct notify_mail *mail, struct arena *arena)
{
	AUTO(buf) message = { 0 };
	AUTO(buf) text = { 0 };
	char id[UUID_TEXT_SIZE];
	struct str delivery = uuid_text(&mail->delivery, id);
	struct str event = run_webhook_event_name(payload->event);
	buf_add_format(&message, "From: Baton <" STR_FMT ">\r\nTo: ", STR_ARG(mail->from));
	for (size_t i = 0; i < mail->to.count; i++)
		buf_add_format(&message, "%s<" STR_FMT ">", i == 0 ? "" : ",\r\n ",
			       STR_ARG(mail->to.at[i]));
	buf_add(&message, S("\r\n"));
	add_subject(&message, payload->text);
	add_date(&message, mail->now);
	buf_add_format(&message,
		       "Message-ID: <" STR_FMT "@baton>\r\nX-Baton-Event: " STR_FMT
		       "\r\nX-Baton-Delivery: " STR_FMT "\r\n",
		       STR_ARG(delivery), STR_ARG(event), STR_ARG(delivery));
	buf_add(&message, S("Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
			    "Content-Type: text/plain; charset=utf-8\r\n"
			    "Content-Transfer-Encoding: base64\r\n\r\n"));
	buf_add(&text, payload->text);
	add_details(&text, payload);
	add_body(&message, buf_str(&text));
	return str_copy(arena, buf_str(&message));
}
