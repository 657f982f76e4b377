/* sim/sim_graph.c -- random definitions that use every feature of the engine: nested bodies, edges
 * with cycles, conditions, rounds, retries, timeouts, turns, questions, signals, verifications, gates,
 * sub-runs.
 *
 * A steady definition ends the same way whatever the timing: none of its steps has a timeout, at most
 * one branch is active along its edges, and no step can cancel the run.  Only runs of steady
 * definitions are compared with those of a calm world.
 *
 * The definitions are written as JSON, which is valid YAML.
 */
#include <stdarg.h>
#include <stdio.h>

#include "sim/sim.h"

enum { NESTING = 2, MOST_STEPS = 26, ITEM = 60, OUTPUT };

struct graph_draft {
	struct sim_dice *dice;
	struct buf *text;
	unsigned steps; /* number of steps so far; the Nth is named sN */
	bool steady;
	unsigned cleanups; /* finally and undo steps around the step being made */
	const struct sim_plan *plan;
	size_t workflows; /* definitions of the plan that it may start */
};

/* What an expression may read: a bit per step; a map item; a verified output. */
typedef uint64_t reads;

static unsigned roll(struct graph_draft *m, unsigned limit)
{
	return (unsigned)sim_below(m->dice, limit);
}

static bool often(struct graph_draft *m, unsigned one_in)
{
	return roll(m, one_in) == 0;
}

static void say(struct graph_draft *m, const char *format, ...) PRINTF_LIKE(2, 3);

static void say(struct graph_draft *m, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	char text[512];
	int size = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	require(size >= 0 && (size_t)size < sizeof(text));
	buf_add(m->text, (struct str){ text, (size_t)size });
}

/* ---- expressions --------------------------------------------------------------------- */

static bool draw_step(struct graph_draft *m, reads from, unsigned *out)
{
	unsigned names[ITEM], count = 0;
	for (unsigned i = 0; i < ITEM; i++)
		if ((from >> i & 1) != 0)
			names[count++] = i;
	if (count == 0)
		return false;
	*out = names[roll(m, count)];
	return true;
}

static void say_atom(struct graph_draft *m, reads from)
{
	static const char *const parts[] = { "n", "ok", "list[1]", "decision" };
	unsigned step;
	if ((from >> ITEM & 1) != 0 && often(m, 3))
		say(m, "%s", often(m, 2) ? "item" : "index");
	else if ((from >> OUTPUT & 1) != 0 && often(m, 2))
		say(m, "output.%s", parts[roll(m, 2)]);
	else if (often(m, 4) || !draw_step(m, from, &step))
		say(m, "inputs.n");
	else
		say(m, "steps.s%u.outputs.%s", step, parts[roll(m, COUNT(parts))]);
}

static void say_expression(struct graph_draft *m, reads from, unsigned depth)
{
	static const char *const signs[] = { "==", "!=", "<", ">=" };
	unsigned step;
	switch (depth > 1 ? 0 : roll(m, 7)) {
	case 1:
		say(m, "(");
		say_expression(m, from, depth + 1);
		say(m, often(m, 2) ? " and " : " or ");
		say_expression(m, from, depth + 1);
		say(m, ")");
		return;
	case 2:
		say(m, "(not ");
		say_expression(m, from, depth + 1);
		say(m, ")");
		return;
	case 3:
		if (!draw_step(m, from, &step))
			break;
		say(m, "steps.s%u.status %s 'success'", step, often(m, 2) ? "==" : "!=");
		return;
	case 4:
		say_atom(m, from);
		say(m, " %s [0, 1, true]", often(m, 2) ? "in" : "not in");
		return;
	default:
		break;
	}
	say_atom(m, from);
	say(m, " %s %u", signs[roll(m, COUNT(signs))], roll(m, 4));
}

static void say_condition(struct graph_draft *m, const char *name, reads from)
{
	say(m, ",\"%s\":\"", name);
	say_expression(m, from, 0);
	say(m, "\"");
}

static void say_inputs(struct graph_draft *m, unsigned number, reads from)
{
	unsigned step;
	say(m, ",\"inputs\":{\"h\":\"step %u ${inputs.text}\"", number);
	if (draw_step(m, from, &step) && !often(m, 3))
		say(m, ",\"whole\":\"${steps.s%u.outputs.h}\"", step);
	if (often(m, 2)) {
		say(m, ",\"n\":\"${");
		say_atom(m, from);
		say(m, "}\"");
	}
	say(m, "}");
}

/* ---- kinds --------------------------------------------------------------------------- */

static void say_body(struct graph_draft *m, unsigned depth, reads outer);

static void say_tool(struct graph_draft *m, unsigned number, reads from)
{
	static const char *const tools[] = { "echo", "echo", "echo", "box", "box", "put",
					     "put",  "pay",  "send", "ask", "hang" };
	unsigned tool = roll(m, COUNT(tools) - m->steady);
	bool hangs = tools[tool][0] == 'h';
	say(m, ",\"tool\":\"%s\"", tools[tool]);
	say_inputs(m, number, from);
	if (hangs || (!m->steady && tool > 2 && often(m, 4)))
		say(m, ",\"timeout\":%s", often(m, 2) ? "0.02" : "2");
	if (tool > 2 && often(m, 2)) {
		static const char *const on[] = { "", ",\"on\":[\"io\"]",
						  ",\"on\":[\"tool_failed\",\"unavailable\"]",
						  ",\"on\":[\"invalid\",\"timeout\",\"io\"]" };
		say(m, ",\"retry\":{\"max_retries\":%u,\"base_delay\":%u,\"max_delay\":%u%s}",
		    roll(m, 4), roll(m, 3), 1 + roll(m, 4), on[roll(m, COUNT(on))]);
	}
}

/* In a steady definition, the reply does not depend on the number of attempts. */
static void say_agent(struct graph_draft *m, unsigned number, reads from)
{
	bool steady = m->steady || often(m, 2);
	say(m, ",\"agent\":\"%s\"",
	    !steady          ? "eve"
	    : often(m, 2)    ? "ada"
	    : number % 2 > 0 ? "sam"
			     : "pat");
	say_inputs(m, number, from);
	if (!steady)
		say(m, ",\"timeout\":%s", often(m, 2) ? "0.02" : "2");
	if (often(m, 2))
		say(m, ",\"retry\":{\"max_retries\":%u,\"base_delay\":%u}", roll(m, 3), roll(m, 2));
}

/* The steady tool always gives the same result; the other may fail, hang or be slow. */
static void say_agents(struct graph_draft *m)
{
	say(m, "\"agents\":{\"ada\":{\"driver\":\"script\",\"options\":{\"replies\":["
	       "{\"contains\":\"step 3\",\"fail\":{\"code\":\"invalid\"}},"
	       "{\"round\":2,\"json\":{\"n\":1,\"ok\":true}},"
	       "{\"text\":\"well\",\"after_ms\":5,\"usage\":{\"input_tokens\":3}}]}},\n");
	say(m,
	    "\"sam\":{\"driver\":\"script\",\"tools\":[\"echo\",\"box\",\"put\",\"pay\",\"send_message\",\"read_messages\"],"
	    "\"options\":{\"replies\":["
	    "{\"turn\":1,\"thinking\":\"well\",\"calls\":[{\"name\":\"box\",\"arguments\":{\"n\":1}},"
	    "{\"name\":\"put\",\"arguments\":{\"n\":2}},{\"name\":\"box\",\"arguments\":{\"n\":3}},"
	    "{\"name\":\"none\"},{\"name\":\"echo\",\"arguments\":{\"n\":4}}]},");
	say(m, "{\"turn\":2,\"contains\":\"n\",\"text\":\"on\",\"after_ms\":5,"
	       "\"calls\":[{\"name\":\"pay\",\"arguments\":{\"n\":5}},"
	       "{\"name\":\"send_message\",\"arguments\":{\"to\":\"pat\",\"content\":\"paid\"}},"
	       "{\"name\":\"read_messages\",\"arguments\":{\"limit\":1}}]},"
	       "{\"text\":\"done\",\"usage\":{\"input_tokens\":3}}]}},\n");
	/* Its inbox depends on the order of steps, its output does not. */
	say(m, "\"pat\":{\"driver\":\"script\",\"tools\":[\"send_message\",\"read_messages\"],"
	       "\"options\":{\"replies\":["
	       "{\"turn\":1,\"calls\":[{\"name\":\"send_message\","
	       "\"arguments\":{\"broadcast\":true,\"content\":\"go\"}},"
	       "{\"name\":\"read_messages\",\"arguments\":{}}]},{\"text\":\"done\"}]}},\n");
	say(m, "\"eve\":{\"driver\":\"script\",\"options\":{\"replies\":["
	       "{\"attempt\":1,\"fail\":{\"code\":\"overloaded\"}},"
	       "{\"attempt\":2,\"hang\":true},"
	       "{\"text\":\"at last\",\"after_ms\":30}]}}},\n");
}

static void say_human(struct graph_draft *m, unsigned number, reads from)
{
	unsigned step;
	say(m, ",\"human\":{\"question\":\"go on");
	if (draw_step(m, from, &step))
		say(m, " after ${steps.s%u.outputs.h}", step);
	say(m, "?\",\"four_eyes\":%s", often(m, 3) ? "true" : "false");
	if (!m->steady && often(m, 2)) {
		say(m, ",\"timeout\":%s,\"escalate\":[", often(m, 2) ? "0.5" : "90");
		for (unsigned levels = roll(m, 3), i = 0; i < levels; i++)
			say(m, "%s{\"to\":\"boss%u\"%s}", i == 0 ? "" : ",", i,
			    often(m, 3) ? "" : ",\"timeout\":3");
		say(m, "]");
	}
	say(m, "}");
	say_inputs(m, number, from);
}

static void say_wait(struct graph_draft *m)
{
	if (often(m, 2))
		say(m, ",\"wait\":{\"signal\":\"%s\"%s}", often(m, 2) ? "go" : "news",
		    m->steady || often(m, 2) ? "" : ",\"timeout\":2");
	else if (often(m, 8))
		say(m, ",\"wait\":{\"seconds\":%u}", 50 + roll(m, 5000));
	else
		say(m, ",\"wait\":{\"seconds\":%u.%u}", roll(m, 4), roll(m, 10));
}

static bool say_workflow(struct graph_draft *m, unsigned number, reads from)
{
	size_t which = m->workflows == 0 ? 0 : roll(m, (unsigned)m->workflows);
	if (m->workflows == 0 || (m->steady && !m->plan->steady[which]))
		return false;
	say(m, ",\"workflow\":\"w%zu\"", which);
	say(m, ",\"inputs\":{\"text\":\"sub %u\"", number);
	if (often(m, 2)) {
		say(m, ",\"n\":\"${");
		say_atom(m, from);
		say(m, "}\"");
	}
	say(m, "}");
	if (!m->steady && often(m, 3))
		say(m, ",\"timeout\":%s", often(m, 2) ? "0.1" : "20");
	if (!m->steady && often(m, 3))
		say(m, ",\"retry\":{\"max_retries\":1,\"base_delay\":1,\"max_delay\":1,"
		       "\"on\":[\"tool_failed\",\"rejected\",\"invalid\",\"io\"]}");
	return true;
}

static void say_map(struct graph_draft *m, unsigned depth, reads from)
{
	unsigned step;
	say(m, ",\"map\":{\"over\":");
	if (draw_step(m, from, &step) && often(m, 2))
		say(m, "\"${steps.s%u.outputs.list}\"", step);
	else
		say(m, "%s", often(m, 5) ? "[]" : often(m, 2) ? "[1,{\"n\":2},3]" : "[0,1]");
	if (often(m, 3))
		say(m, ",\"at_once\":%u", 1 + roll(m, 2));
	say(m, ",\"steps\":");
	say_body(m, depth + 1, from | UINT64_C(1) << ITEM);
	say(m, "}");
}

static void say_loop(struct graph_draft *m, unsigned depth, reads from)
{
	say(m, ",\"loop\":{\"max\":%u,\"on_limit\":\"%s\",\"steps\":", 1 + roll(m, 3),
	    m->steps % 3 == 0 ? "fail" : "continue");
	unsigned first = m->steps;
	say_body(m, depth + 1, from);
	/* Only the first step of the body is certain to run in every round. */
	say_condition(m, "until", from | UINT64_C(1) << first);
	say(m, "}");
}

static void say_verify(struct graph_draft *m, unsigned depth, reads from, unsigned target)
{
	say(m, ",\"verify\":{\"target\":\"s%u\",\"criteria\":[", target);
	for (unsigned count = 1 + roll(m, 3), i = 0; i < count; i++) {
		say(m, "%s{\"name\":\"c%u\",\"critical\":%s", i == 0 ? "" : ",", i,
		    often(m, 4) ? "true" : "false");
		say_condition(m, "check", from | UINT64_C(1) << OUTPUT);
		say(m, "}");
	}
	say(m,
	    "],\"policy\":{\"max_correction_attempts\":%u,\"require_all_criteria\":%s,"
	    "\"halt_on_critical\":%s",
	    roll(m, 3), often(m, 2) ? "true" : "false",
	    m->steady || often(m, 2) ? "false" : "true");
	if (!m->steady && often(m, 2))
		say(m, ",\"timeout_seconds\":1");
	say(m, "}");
	/* The duration of a correction is part of the result, so it is not steady. */
	if (!m->steady && !often(m, 3)) {
		say(m, ",\"steps\":");
		say_body(m, depth + 1, from);
	}
	say(m, "}");
}

/* Finally and undo steps cannot be undone. */
static void say_cleanup(struct graph_draft *m, unsigned depth, reads from)
{
	m->cleanups++;
	say_body(m, depth + 1, from);
	m->cleanups--;
}

static void say_try(struct graph_draft *m, unsigned depth, reads from)
{
	bool catches = often(m, 2);
	say(m, ",\"try\":{\"steps\":");
	say_body(m, depth + 1, from);
	if (catches) {
		say(m, ",\"catch\":");
		say_body(m, depth + 1, from);
	}
	if (!catches || often(m, 2)) {
		say(m, ",\"finally\":");
		say_cleanup(m, depth, from);
	}
	say(m, "}");
}

static void say_gate(struct graph_draft *m, unsigned depth, reads from)
{
	static const char *const thresholds[] = { "1", "0.5", "0", "0.3" };
	say(m, ",\"gate\":{\"threshold\":%s,\"required\":[", thresholds[roll(m, 4)]);
	if (often(m, 3))
		say(m, "\"s%u\"", m->steps);
	say(m, "],\"steps\":");
	say_body(m, depth + 1, from);
	say(m, "}");
}

/* ---- a step -------------------------------------------------------------------------- */

/* Steps of the enclosing body. */
struct neighbours {
	unsigned first, count;
	reads any; /* those that edges start */
};

/* False when the step has rounds of its own. */
static bool say_kind(struct graph_draft *m, unsigned number, unsigned depth, reads from,
		     reads targets)
{
	unsigned kind = roll(m, 19), target;
	/* Where budgets limit turns, more steps are agents. */
	if (m->plan->budgets && (kind == 3 || kind == 4))
		kind = 5;
	if (depth >= NESTING || m->steps > MOST_STEPS)
		kind = kind >= 12 ? 0 : kind;
	switch (kind) {
	case 5:
		say_agent(m, number, from);
		return true;
	case 6:
		say_condition(m, "condition", from);
		return true;
	case 7:
	case 8:
		say_human(m, number, from);
		return true;
	case 9:
		say_wait(m);
		return true;
	case 10:
	case 11:
		if (say_workflow(m, number, from))
			return true;
		break;
	case 12:
		say(m, ",\"parallel\":{\"steps\":");
		say_body(m, depth + 1, from);
		say(m, "}");
		return true;
	case 13:
		say_map(m, depth, from);
		return true;
	case 14:
		say_loop(m, depth, from);
		return false;
	case 15:
		if (!draw_step(m, targets, &target))
			break;
		say_verify(m, depth, from, target);
		return false;
	case 16:
		say_gate(m, depth, from);
		return true;
	case 17:
	case 18:
		say_try(m, depth, from);
		return true;
	default:
		break;
	}
	say_tool(m, number, from);
	return true;
}

/* Edges lead forward without restriction and backward under a condition; a steady body has at most
 * one backward edge. */
static void say_edges(struct graph_draft *m, unsigned number, const struct neighbours *n,
		      reads from)
{
	unsigned count = m->steady ? roll(m, 2) : roll(m, 3);
	say(m, ",\"next\":[");
	for (unsigned i = 0; i < count; i++) {
		unsigned to;
		if (!draw_step(m, n->any, &to))
			break;
		say(m, "%s{\"to\":\"s%u\"", i == 0 ? "" : ",", to);
		if (to <= number || often(m, 2))
			say_condition(m, "when", from);
		say(m, "}");
	}
	say(m, "]");
}

/* The dependencies of a step; *known gets the steps that are final before it. */
static reads say_depends(struct graph_draft *m, unsigned number, const struct neighbours *n,
			 const reads *before, reads *known)
{
	reads mine = 0;
	for (unsigned i = roll(m, 3); number > n->first && i > 0; i--)
		mine |= UINT64_C(1) << (n->first + roll(m, number - n->first));
	bool first = true;
	say(m, ",\"depends_on\":[");
	for (unsigned i = n->first; i < number; i++)
		if ((mine >> i & 1) != 0) {
			say(m, "%s\"s%u\"", first ? "" : ",", i);
			*known |= UINT64_C(1) << i | before[i];
			first = false;
		}
	say(m, "]");
	return mine;
}

/* With dice of its own, so that definitions without undo steps stay as they were. */
static void say_undo(struct graph_draft *m, unsigned depth, reads from)
{
	struct sim_dice *all = m->dice, own = { all->state ^ UINT64_C(0x75d0) };
	if (m->cleanups > 0 || depth >= NESTING || m->steps > MOST_STEPS)
		return;
	m->dice = &own;
	if (often(m, 8)) {
		say(m, ",\"undo\":");
		say_cleanup(m, depth, from);
	}
	m->dice = all;
}

static void say_step(struct graph_draft *m, unsigned number, unsigned depth,
		     const struct neighbours *n, reads outer, reads *before)
{
	reads self = UINT64_C(1) << number, targets = 0;
	reads all = ((UINT64_C(1) << n->count) - 1) << n->first;
	bool any = (n->any & self) != 0;
	say(m, "{\"name\":\"s%u\"", number);
	if (any)
		say(m, ",\"join\":\"any\",\"max_iterations\":%u", 1 + roll(m, 4));
	if (any && (m->steady || number == n->first))
		say(m, ",\"entry\":%s", number == n->first ? "true" : "false");
	if (!any)
		targets = say_depends(m, number, n, before, &before[number]);
	if (n->any != 0 && targets == 0)
		targets = all & ~self;
	/* In a body with edges, any step may be read; it may be null. */
	reads from = outer | (n->any != 0 ? all & ~self : before[number]);
	if (n->any != 0)
		say_edges(m, number, n, from | self);
	if (say_kind(m, number, depth, from, targets) && often(m, 8)) {
		say_condition(m, "loop_until", from | self);
		if (often(m, 2))
			say(m, ",\"loop_max\":%s", often(m, 3) ? "\"${inputs.n}\"" : "2");
	}
	if (often(m, 6))
		say_condition(m, often(m, 2) ? "when" : "unless", from);
	say_undo(m, depth, from | self);
	if (often(m, 6))
		say(m, ",\"continue_on_error\":true");
	say(m, "}");
}

static void say_body(struct graph_draft *m, unsigned depth, reads outer)
{
	struct neighbours n = { .first = m->steps };
	n.count = 1 + roll(m, depth == 0 ? 9 : 3);
	m->steps += n.count;
	require(m->steps < ITEM);
	reads before[ITEM] = { 0 };
	/* A body with edges; in a steady body they form one chain. */
	bool edges = n.count > 1 && often(m, 3);
	for (unsigned i = 0; edges && i < n.count; i++)
		if (m->steady || i == 0 || !often(m, 3))
			n.any |= UINT64_C(1) << (n.first + i);
	say(m, "[");
	for (unsigned i = 0; i < n.count; i++) {
		say(m, "%s\n", i == 0 ? "" : ",");
		say_step(m, n.first + i, depth, &n, outer, before);
	}
	say(m, "]");
}

struct str sim_graph_make(struct sim_plan *plan, size_t number, struct sim_dice *dice)
{
	AUTO(buf) text = { 0 };
	struct graph_draft m = { .dice = dice,
				 .text = &text,
				 .steady = often(&(struct graph_draft){ .dice = dice }, 2),
				 .plan = plan,
				 .workflows = number };
	plan->steady[number] = m.steady;
	say(&m,
	    "{\"name\":\"w%zu\",\"inputs\":{\"text\":{\"type\":\"string\"},"
	    "\"n\":{\"type\":\"number\",\"default\":2}},\n",
	    number);
	say_agents(&m);
	if (often(&m, 3))
		say(&m, "\"concurrency\":%u,", 1 + roll(&m, 3));
	if (!m.steady && often(&m, 5))
		say(&m, "\"timeout\":%s,", often(&m, 2) ? "1.5" : "300");
	if (often(&m, 4))
		say(&m, "\"max_iterations\":%u,", 2 + roll(&m, 6));
	say(&m, "\"steps\":");
	say_body(&m, 0, 0);
	say(&m, ",\n\"outputs\":{\"text\":{\"from\":\"${inputs.text}\"}");
	say(&m, ",\"first\":{\"from\":\"${steps.s0.outputs}\",\"optional\":%s}}}\n",
	    often(&m, 5) ? "false" : "true");
	return str_copy(&plan->arena, buf_str(&text));
}
