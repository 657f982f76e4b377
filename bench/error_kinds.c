/* bench/error_kinds.c -- counts what went wrong, by kind. */
#include "error_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Kinds beyond the last share its place. */
static void count(struct error_kinds *kinds, const char *name)
{
	size_t i = 0;
	while (i < kinds->count && strcmp(kinds->at[i].name, name) != 0)
		i++;
	if (i == ERROR_KINDS)
		i--;
	else if (i == kinds->count)
		snprintf(kinds->at[kinds->count++].name, ERROR_KIND_SIZE, "%s", name);
	kinds->at[i].count++;
}

void error_kinds_add(struct error_kinds *kinds, const char *name)
{
	kinds->errors++;
	count(kinds, name);
}

static bool has_retry_after(const char *answer)
{
	static const char name[] = "Retry-After:";
	const char *end = strstr(answer, "\r\n\r\n");
	for (const char *line = strstr(answer, "\r\n"); end != NULL && line != NULL && line < end;
	     line = strstr(line + 2, "\r\n"))
		if (strncasecmp(line + 2, name, sizeof(name) - 1) == 0)
			return true;
	return false;
}

void error_kinds_add_answer(struct error_kinds *kinds, const char *answer)
{
	static const char key[] = "\"code\":\"";
	char name[ERROR_KIND_SIZE];
	const char *code = strstr(answer, key);
	int status = strncmp(answer, "HTTP/1.1 ", 9) == 0 ? atoi(answer + 9) : 0;
	code = code == NULL ? "" : code + sizeof(key) - 1;
	bool refusal = (status == 429 || status == 503 || status == 507) && has_retry_after(answer);
	snprintf(name, sizeof(name), "%d %.*s%s", status, (int)strcspn(code, "\""), code,
		 status == 200 ? "a run that did not succeed"
		 : refusal     ? ""
			       : " without Retry-After");
	if (refusal)
		kinds->refused++;
	else
		kinds->errors++;
	count(kinds, name);
}

void error_kinds_print(const struct error_kinds *kinds)
{
	printf("\"errors\":%zu,\"refused\":%zu,\"kinds\":{", kinds->errors, kinds->refused);
	for (size_t i = 0; i < kinds->count; i++) {
		printf("%s\"", i > 0 ? "," : "");
		for (const char *at = kinds->at[i].name; *at != '\0'; at++)
			putchar(*at == '"' || *at == '\\' || *at < ' ' ? '?' : *at);
		printf("\":%zu", kinds->at[i].count);
	}
	putchar('}');
}
