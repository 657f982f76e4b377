// The floor of workload W6: an agent's loop with fetch and nothing else; nothing is stored.
//
//     node fetch_loop.mjs BASE MODEL CLIENTS AGENTS
//
// CLIENTS loops run side by side until AGENTS agents have ended, after as many for warming up as there are loops.  Prints one JSON line.
const [base, model, clients, agents] = [process.argv[2], process.argv[3], +process.argv[4], +process.argv[5]];
const tools = [{ type: "function", function: { name: "echo", description: "Returns its inputs.", parameters: { type: "object" } } }];

async function* events(response) {
  const reader = response.body.getReader(), decoder = new TextDecoder();
  let text = "";
  for (let piece; !(piece = await reader.read()).done;) {
    text += decoder.decode(piece.value, { stream: true });
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const data = text.slice(0, end).replace(/^data: /, "");
      if (data !== "[DONE]") yield JSON.parse(data);
    }
  }
}

async function ask(messages) {
  const response = await fetch(base + "/chat/completions", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ model, messages, tools, stream: true }),
  });
  const message = { role: "assistant", content: "", tool_calls: [] };
  for await (const event of events(response)) {
    const delta = event.choices[0]?.delta ?? {};
    message.content += delta.content ?? "";
    for (const call of delta.tool_calls ?? []) {
      message.tool_calls[call.index] ??= { id: call.id, type: "function", function: { name: call.function.name, arguments: "" } };
      message.tool_calls[call.index].function.arguments += call.function.arguments;
    }
  }
  return message;
}

let turns = 0;
async function agent(number) {
  const messages = [{ role: "system", content: "You work." }, { role: "user", content: `Task ${number}.` }];
  for (;;) {
    const reply = await ask(messages);
    turns++;
    if (reply.tool_calls.length === 0) return reply.content;
    messages.push(reply);
    for (const call of reply.tool_calls)
      messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify(JSON.parse(call.function.arguments)) });
  }
}

async function all(count) {
  let next = 0;
  await Promise.all(Array.from({ length: clients }, async () => { while (next < count) await agent(next++); }));
}

await all(clients);
turns = 0;
const before = process.cpuUsage(), begun = process.hrtime.bigint();
await all(agents);
const used = process.cpuUsage(before), seconds = Number(process.hrtime.bigint() - begun) / 1e9;
console.log(JSON.stringify({ turns, cpu_us: (used.user + used.system) / turns, turns_per_second: turns / seconds }));
