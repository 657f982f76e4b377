/* tests/unit/spoil.c -- replaces the n-th value of a document. */
#include "spoil.h"

/* The first way takes the value out; where it is no member it becomes null.  The words are ones
 * that events and snapshots have in some field. */
static const char *const ways[SPOIL_WAYS] = {
	"null",
	"null",
	"-1",
	"9223372036854775807",
	"0",
	"\"\"",
	"\"x\"",
	"[]",
	"{}",
	"true",
	"false",
	"1",
	"\"ok\"",
	"\"failed\"",
	"\"unknown\"",
	"\"cancelled\"",
	"\"retry\"",
	"\"approve\"",
	"\"running\"",
	"\"succeeded\"",
	"\"retrying\"",
	"\"waiting_human\"",
};

struct spoiling {
	struct json_writer writer;
	size_t seen, node, way;
};

size_t spoil_nodes(const struct json *json)
{
	size_t count = 1;
	if (json->kind == JSON_LIST)
		for (size_t i = 0; i < json->as.list.count; i++)
			count += spoil_nodes(&json->as.list.at[i]);
	if (json->kind == JSON_OBJECT)
		for (size_t i = 0; i < json->as.object.count; i++)
			count += spoil_nodes(&json->as.object.at[i].value);
	return count;
}

static void print(struct spoiling *s, const struct json *json)
{
	if (s->seen++ == s->node) {
		json_put_raw(&s->writer, str_from_c(ways[s->way]));
		s->seen += spoil_nodes(json) - 1;
	} else if (json->kind == JSON_LIST) {
		json_open(&s->writer, '[');
		for (size_t i = 0; i < json->as.list.count; i++)
			print(s, &json->as.list.at[i]);
		json_close(&s->writer, ']');
	} else if (json->kind == JSON_OBJECT) {
		json_open(&s->writer, '{');
		for (size_t i = 0; i < json->as.object.count; i++) {
			const struct json_member *member = &json->as.object.at[i];
			if (s->way == 0 && s->seen == s->node) {
				s->seen += spoil_nodes(&member->value);
				continue;
			}
			json_key(&s->writer, member->key);
			print(s, &member->value);
		}
		json_close(&s->writer, '}');
	} else {
		json_put_tree(&s->writer, json);
	}
}

struct str spoil_print(const struct json *json, size_t node, size_t way, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct spoiling s = { .writer = { .out = &text }, .node = node, .way = way };
	print(&s, json);
	return str_copy(arena, buf_str(&text));
}
