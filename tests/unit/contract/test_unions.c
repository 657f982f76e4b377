/* Unions: tags inside, tags beside, tags unknown. */
#include "contract_support.h"

Test(unions, the_case_is_told_by_the_tag)
{
	AUTO(arena) arena = { 0 };
	struct str text =
		S("{\"first\":{\"type\":\"image\",\"url\":\"u\"},\"parts\":["
		  "{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"image\",\"url\":\"v\"}],"
		  "\"open\":[]}");
	assert_str(round_trip(sample_message_type(), text, &arena), text);
	const struct sample_message *value = read_good(sample_message_type(), text, &arena);
	cr_assert_eq(value->first->kind, SAMPLE_PART_IMAGE);
	assert_str(value->first->as.image->url, S("u"));
	cr_assert_eq(value->parts.at[0].kind, SAMPLE_PART_TEXT);
	assert_str(value->parts.at[0].as.text->text, S("t"));
}

Test(unions, wrong_tags)
{
	assert_lines(
		sample_message_type(),
		"{\"parts\":[{\"type\":\"txt\",\"text\":\"t\"},\n{\"text\":\"t\"},{\"type\":7},"
		"{\"type\":\"sound\"},4]}",
		"1:19 /parts/0/type: \"txt\" is not one of text, image; did you mean \"text\"?\n"
		"2:1 /parts/1/type: is required: it tells which sample.Part this is\n"
		"2:22 /parts/2/type: must be a string, got integer 7\n"
		"2:33 /parts/3/type: \"sound\" is not one of text, image\n"
		"2:42 /parts/4: must be an object, got integer 4\n");
}

Test(unions, the_case_is_checked_like_any_entity)
{
	assert_lines(sample_message_type(),
		     "{\"parts\":[{\"type\":\"text\",\"url\":1},{\"url\":2,\"type\":\"image\"}]}",
		     "1:26 /parts/0/url: is not a field of sample.TextPart\n"
		     "1:11 /parts/0/text: is required\n"
		     "1:42 /parts/1/url: must be a string, got integer 2\n");
}

Test(unions, unknown_cases_survive_where_the_union_says_so)
{
	AUTO(arena) arena = { 0 };
	struct str text = S("{\"parts\":[],\"open\":[{\"type\":\"video\",\"x\":{\"y\":[1]}},"
			    "{\"type\":\"text\",\"text\":\"t\"}]}");
	assert_str(round_trip(sample_message_type(), text, &arena), text);
	const struct sample_message *value = read_good(sample_message_type(), text, &arena);
	cr_assert_eq(value->open.at[0].kind, SAMPLE_OPEN_PART_OTHER);
	assert_str(json_text(json_member(value->open.at[0].as.other, S("type"))), S("video"));
	assert_lines(sample_message_type(), "{\"open\":[{\"type\":\"text\"},{}]}",
		     "1:10 /open/0/text: is required\n"
		     "1:26 /open/1/type: is required: it tells which sample.OpenPart this is\n");
}

Test(unions, a_union_can_be_the_document)
{
	AUTO(arena) arena = { 0 };
	assert_str(round_trip(sample_part_type(), S("{\"url\":\"u\",\"type\":\"image\"}"), &arena),
		   S("{\"type\":\"image\",\"url\":\"u\"}"));
}

Test(unions, the_tag_may_be_in_a_sibling_before_or_after)
{
	AUTO(arena) arena = { 0 };
	struct str text = S("{\"config\":{\"url\":\"u\",\"key\":null},\"spare\":{\"url\":\"v\","
			    "\"key\":\"file:k\"},\"transport\":\"http\"}");
	assert_str(round_trip(sample_server_type(), text, &arena), text);
	const struct sample_server *value =
		read_good(sample_server_type(),
			  S("{\"transport\":\"http\",\"config\":{\"url\":\"u\"}}"), &arena);
	cr_assert_eq(value->config->kind, SAMPLE_SETTINGS_HTTP);
	cr_assert_eq(value->is.spare, IS_NULL);
	value = read_good(sample_server_type(),
			  S("{\"config\":{\"command\":\"c\"},\"spare\":null}"), &arena);
	cr_assert_eq(value->config->kind, SAMPLE_SETTINGS_STDIO);
	cr_assert_eq(value->is.transport, DEFAULTED);
}

Test(unions, problems_behind_a_sibling)
{
	assert_lines(sample_server_type(), "{\"config\":{\"url\":\"u\"}}",
		     "1:12 /config/url: is not a field of sample.Stdio\n"
		     "1:11 /config/command: is required\n");
	/* A wrong sibling has its own problem; guessing would add false ones. */
	assert_lines(
		sample_server_type(), "{\"config\":{\"url\":\"u\"},\"transport\":\"htp\"}",
		"1:35 /transport: \"htp\" is not one of stdio, http; did you mean \"http\"?\n");
	assert_lines(sample_server_type(), "{\"config\":null}",
		     "1:11 /config: must be an object, got null\n");
	assert_lines(sample_server_type(), "{}", "1:1 /config: is required\n");
}
