/* bench/json.c -- compares Baton's JSON reader and writer with cJSON (Debian's) in one process: a 1 MB
 * array of events and a 300-byte message.  CPU time, best of several rounds; compare the ratios. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"

enum { ROUNDS = 7 };

static double cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One event as the stream of a run prints it. */
static void add_event(struct buf *out, int number)
{
	buf_add_format(
		out,
		"{\"run_id\":\"3c3fc27e-ac7c-46fb-9948-063831522115\",\"seq\":%d,\"position\":\"%d\","
		"\"at\":\"2026-11-15T20:46:29.856181Z\",\"type\":\"tool.finished\",\"data\":{\"v\":1,"
		"\"step\":\"keep\",\"outcome\":\"ok\",\"output\":{\"is\":{\"exit_code\":0,"
		"\"stdout\":\"hello, world\\n\",\"score\":%d.25,\"flags\":[true,false,null]}}}}",
		number, number + 1000, number);
}

struct subject {
	const char *name;
	struct str text;
	int repeats;
};

static double ours_read(const struct subject *subject)
{
	AUTO(arena) arena = { 0 };
	double begun = cpu_seconds();
	for (int i = 0; i < subject->repeats; i++) {
		const struct json *json;
		struct error error;
		arena_reset(&arena);
		if (!json_read(subject->text, &arena, &json, &error))
			abort();
	}
	return cpu_seconds() - begun;
}

static double theirs_read(const struct subject *subject)
{
	double begun = cpu_seconds();
	for (int i = 0; i < subject->repeats; i++) {
		cJSON *json = cJSON_ParseWithLength(subject->text.at, subject->text.size);
		if (json == NULL)
			abort();
		cJSON_Delete(json);
	}
	return cpu_seconds() - begun;
}

static double ours_write(const struct subject *subject)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) out = { 0 };
	const struct json *json;
	struct error error;
	if (!json_read(subject->text, &arena, &json, &error))
		abort();
	double begun = cpu_seconds();
	for (int i = 0; i < subject->repeats; i++) {
		buf_clear(&out);
		struct json_writer writer = { .out = &out };
		json_put_tree(&writer, json);
	}
	return cpu_seconds() - begun;
}

static double theirs_write(const struct subject *subject)
{
	cJSON *json = cJSON_ParseWithLength(subject->text.at, subject->text.size);
	double begun = cpu_seconds();
	for (int i = 0; i < subject->repeats; i++)
		free(cJSON_PrintUnformatted(json));
	double took = cpu_seconds() - begun;
	cJSON_Delete(json);
	return took;
}

static double best(double (*measure)(const struct subject *subject), const struct subject *subject)
{
	double least = measure(subject);
	for (int i = 1; i < ROUNDS; i++) {
		double took = measure(subject);
		least = took < least ? took : least;
	}
	return least;
}

static void compare(const char *what, const struct subject *subject,
		    double (*ours)(const struct subject *),
		    double (*theirs)(const struct subject *))
{
	double mine = best(ours, subject), other = best(theirs, subject);
	double megabytes = (double)subject->text.size * subject->repeats / 1e6;
	printf("%-8s %-16s ours %7.0f MB/s   cJSON %7.0f MB/s   ratio %.1f\n", what, subject->name,
	       megabytes / mine, megabytes / other, other / mine);
}

int main(void)
{
	AUTO(buf) large = { 0 };
	AUTO(buf) small = { 0 };
	add_event(&small, 7);
	buf_add_char(&large, '[');
	for (int i = 0; large.size < 1000000; i++) {
		if (i > 0)
			buf_add_char(&large, ',');
		add_event(&large, i);
	}
	buf_add_char(&large, ']');
	const struct subject subjects[] = { { "1 MB of events", buf_str(&large), 5 },
					    { "300-byte message", buf_str(&small), 20000 } };
	for (size_t i = 0; i < COUNT(subjects); i++) {
		compare("read", &subjects[i], ours_read, theirs_read);
		compare("write", &subjects[i], ours_write, theirs_write);
	}
	return 0;
}
