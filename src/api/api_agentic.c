/* api/api_agentic.c -- starts an agent of the registry with a goal, or a chat with it.
 *
 * Both are ordinary runs of a definition that is written here, so they are recorded, resumed after a
 * crash and shown like any other run.  The definition refers to the agent by its name, and the run keeps
 * the agent as it is at the start.
 */
#include "active/run_commands.h"
#include "api/api_internal.h"
#include "contract/run_agent_types.h"
#include "contract/run_start_types.h"

/* NAME stands for the agent, which is a valid name of a step. */
static const char goal_yaml[] =
	"name: agent\n"
	"strict: true\n"
	"inputs:\n"
	"  goal: {type: string}\n"
	"  attachments: {type: array, default: []}\n"
	"steps:\n"
	"  - name: NAME\n"
	"    agent: NAME\n"
	"    inputs: {prompt: '${inputs.goal}', attachments: '${inputs.attachments}'}\n"
	"outputs:\n"
	"  text: {from: '${steps.NAME.outputs.text}'}\n"
	"  json: {from: '${steps.NAME.outputs.json}', optional: true}\n";

/* In each round a message comes as a signal and the agent replies to the transcript so far.  In the
 * first round of a chat with a goal, the goal is the message. */
static const char chat_yaml[] =
	"name: chat\n"
	"strict: true\n"
	"inputs:\n"
	"  goal: {type: string, default: ''}\n"
	"steps:\n"
	"  - name: chat\n"
	"    loop:\n"
	"      until: coalesce(steps.message.outputs.end, false)\n"
	"      max: 10000\n"
	"      on_limit: continue\n"
	"      steps:\n"
	"        - name: message\n"
	"          when: coalesce(steps.chat.outputs.history, inputs.goal == '')\n"
	"          wait: {signal: message}\n"
	"        - name: said\n"
	"          depends_on: [message]\n"
	"          unless: coalesce(steps.message.outputs.end, false)\n"
	"          tool: echo\n"
	"          inputs:\n"
	"            role: user\n"
	"            content: '${coalesce(steps.message.outputs.content, inputs.goal)}'\n"
	"            attachments: '${coalesce(steps.message.outputs.attachments, [])}'\n"
	"        - name: reply\n"
	"          depends_on: [said]\n"
	"          unless: coalesce(steps.message.outputs.end, false)\n"
	"          continue_on_error: true\n"
	"          agent: NAME\n"
	"          inputs:\n"
	"            messages: '${coalesce(steps.chat.outputs.history.messages, []) +"
	" [steps.said.outputs]}'\n"
	"        - name: answer\n"
	"          depends_on: [reply]\n"
	"          unless: coalesce(steps.message.outputs.end, false)\n"
	"          tool: echo\n"
	"          inputs:\n"
	"            role: assistant\n"
	"            content: '${coalesce(steps.reply.outputs.text, \"The reply failed.\")}'\n"
	"        - name: history\n"
	"          depends_on: [answer]\n"
	"          unless: coalesce(steps.message.outputs.end, false)\n"
	"          tool: echo\n"
	"          inputs:\n"
	"            messages: '${coalesce(steps.chat.outputs.history.messages, []) +"
	" [steps.said.outputs, steps.answer.outputs]}'\n";

static struct str definition_for(struct str agent, bool chat, struct arena *arena)
{
	struct str rest = str_from_c(chat ? chat_yaml : goal_yaml);
	AUTO(buf) out = { 0 };
	size_t at;
	while (str_find(rest, S("NAME"), &at)) {
		buf_add(&out, str_head(rest, at));
		buf_add(&out, agent);
		rest = str_skip(rest, at + 4);
	}
	buf_add(&out, rest);
	return str_copy(arena, buf_str(&out));
}

void api_agentic(struct api_call *call, const struct run_agentic_request *body)
{
	struct arena *arena = call->arena;
	struct json_member *members = arena_array(arena, struct json_member, 2);
	size_t count = 0;
	struct json *inputs = arena_new(arena, struct json);
	struct run_start *kept = run_start_new(arena);
	struct str_entry *label = arena_new(arena, struct str_entry);
	*label = (struct str_entry){ S("agent"), body->agent };
	SET(kept, labels, ((struct str_map){ label, 1 }));
	if (has(body, profile))
		SET(kept, profile, body->profile);
	if (has(body, goal))
		members[count++] = (struct json_member){
			.key = S("goal"), .value = { .kind = JSON_STRING, .as.string = body->goal }
		};
	const struct json *shown =
		json_member(run_agentic_request_tree(body, arena), S("attachments"));
	if (shown != NULL && !body->chat)
		members[count++] = (struct json_member){ .key = S("attachments"), .value = *shown };
	*inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	struct executor_start start = { .workflow = body->chat ? S("chat") : S("agent"),
					.yaml = definition_for(body->agent, body->chat, arena),
					.inputs = { .json = inputs },
					.generated = true,
					.start = kept };
	if (has(body, run_id))
		start.run = body->run_id;
	api_start(call, &start);
}
