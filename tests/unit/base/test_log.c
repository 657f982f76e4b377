/* The log: every entry is exactly one line, whatever its text and fields contain. */
#include "tests/unit/base/expect.h"

#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"

/* Redirects stderr into a file between begin and end. */
struct capture {
	FILE *file;
	int kept;
	char text[32768];
};

static void capture_begin(struct capture *capture)
{
	capture->file = tmpfile();
	cr_assert_not_null(capture->file);
	capture->kept = dup(STDERR_FILENO);
	dup2(fileno(capture->file), STDERR_FILENO);
}

static struct str capture_end(struct capture *capture)
{
	dup2(capture->kept, STDERR_FILENO);
	close(capture->kept);
	rewind(capture->file);
	size_t size = fread(capture->text, 1, sizeof(capture->text), capture->file);
	fclose(capture->file);
	return (struct str){ capture->text, size };
}

Test(log, writes_level_and_text)
{
	struct capture capture;
	capture_begin(&capture);
	log_setup((struct log_settings){ .least = LOG_INFO });
	log_line(LOG_DEBUG, "unheard");
	log_line(LOG_INFO, "listening on port %d", 80);
	log_line(LOG_ERROR, "two\nlines\tand a bell \a \"quoted\"");
	expect_str(capture_end(&capture),
		   S("info: listening on port 80\n"
		     "error: two\\nlines\\tand a bell \\u0007 \"quoted\"\n"));
}

Test(log, shows_what_a_terminal_would_obey)
{
	struct capture capture;
	capture_begin(&capture);
	log_setup((struct log_settings){ .least = LOG_INFO });
	log_line(LOG_INFO, "\033[2J c1 \xC2\x9B bidi \xE2\x80\xAE tag \xF3\xA0\x81\x81 \xC3\xA4");
	expect_str(capture_end(&capture),
		   S("info: \\u001b[2J c1 \\u009b bidi \\u202e tag \\udb40\\udc41 \xC3\xA4\n"));
}

Test(log, stays_silent_when_told)
{
	struct capture capture;
	capture_begin(&capture);
	log_setup((struct log_settings){ .least = LOG_SILENT });
	log_line(LOG_ERROR, "unheard");
	log_line(LOG_SILENT, "unheard");
	expect_str(capture_end(&capture), S(""));
}

Test(log, writes_json_that_reads_back)
{
	struct capture capture;
	capture_begin(&capture);
	log_setup((struct log_settings){ .least = LOG_DEBUG, .json = true });
	log_line(LOG_WARNING, "a \"b\" \\ \n \x01 \xFF \xC3\xA4");
	struct str line = capture_end(&capture);
	expect_str(line, S("{\"level\":\"warning\",\"text\":"
			   "\"a \\\"b\\\" \\\\ \\n \\u0001 ? \xC3\xA4\"}\n"));
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	cr_assert(json_read(line, &arena, &json, &error), "%s", error.text);
	expect_str(json_text(json_member(json, S("text"))), S("a \"b\" \\ \n \x01 ? \xC3\xA4"));
}

Test(log, cuts_what_is_too_long)
{
	char text[5000];
	memset(text, '\x01', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct capture capture;
	capture_begin(&capture);
	log_setup((struct log_settings){ .least = LOG_DEBUG, .json = true });
	log_line(LOG_INFO, "%s", text);
	struct str line = capture_end(&capture);
	cr_expect(str_ends(line, S("\\u0001...\"}\n")));
	cr_expect_lt(line.size, 5000 * 6);
}

Test(log, names_the_run_a_line_is_about)
{
	struct capture capture;
	const struct str id = S("3c3fc27e-ac7c-46fb-9948-063831522115");
	capture_begin(&capture);
	log_setup((struct log_settings){ .least = LOG_INFO });
	log_run(LOG_WARNING, id, "took %d tries", 3);
	log_setup((struct log_settings){ .least = LOG_INFO, .json = true });
	log_run(LOG_ERROR, id, "a \"quoted\" word");
	log_setup((struct log_settings){ .least = LOG_INFO });
	expect_str(capture_end(&capture),
		   S("warning: run 3c3fc27e-ac7c-46fb-9948-063831522115: took 3 tries\n"
		     "{\"level\":\"error\",\"run_id\":\"3c3fc27e-ac7c-46fb-9948-063831522115\","
		     "\"text\":\"a \\\"quoted\\\" word\"}\n"));
}
