// The providers' own clients against one server: node clients.mjs CLIENT BASE_URL STREAM
// Prints what the client understood: {text, thinking, calls: [[id, name, arguments]], usage, stop} or {status}.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [client, base, stream] = process.argv.slice(2);
const streams = stream === "true";
const prompt = [{ role: "user", content: "Speak." }];

const readers = {
	async chat() {
		const openai = new OpenAI({ apiKey: "k", baseURL: base, maxRetries: 0 });
		const request = { model: "m", messages: prompt };
		let whole;
		if (streams) {
			const events = openai.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
			whole = await events.finalChatCompletion();
		} else whole = await openai.chat.completions.create(request);
		const [{ message, finish_reason }] = whole.choices;
		return {
			text: message.content, calls: (message.tool_calls ?? []).map((call) => [call.id, call.function.name, call.function.arguments]),
			usage: [whole.usage.prompt_tokens, whole.usage.completion_tokens, whole.usage.prompt_tokens_details.cached_tokens],
			stop: finish_reason,
		};
	},
	async responses() {
		const openai = new OpenAI({ apiKey: "k", baseURL: base, maxRetries: 0 });
		const request = { model: "m", input: "Speak." };
		const whole = streams ? await openai.responses.stream(request).finalResponse() : await openai.responses.create(request);
		const of = (type) => whole.output.filter((item) => item.type === type);
		return {
			text: whole.output_text, thinking: of("reasoning").map((item) => item.summary[0].text).join(""),
			calls: of("function_call").map((item) => [item.call_id, item.name, item.arguments]),
			usage: [whole.usage.input_tokens, whole.usage.output_tokens, whole.usage.input_tokens_details.cached_tokens],
			stop: whole.status,
		};
	},
	async messages() {
		const anthropic = new Anthropic({ apiKey: "k", baseURL: base.replace(/\/v1$/, ""), maxRetries: 0 });
		const request = { model: "m", max_tokens: 100, messages: prompt };
		const whole = streams ? await anthropic.messages.stream(request).finalMessage() : await anthropic.messages.create(request);
		const of = (type) => whole.content.filter((block) => block.type === type);
		return {
			text: of("text").map((block) => block.text).join(""), thinking: of("thinking").map((block) => block.thinking).join(""),
			calls: of("tool_use").map((block) => [block.id, block.name, JSON.stringify(block.input)]),
			usage: [whole.usage.input_tokens + whole.usage.cache_read_input_tokens + whole.usage.cache_creation_input_tokens,
				whole.usage.output_tokens, whole.usage.cache_read_input_tokens],
			stop: whole.stop_reason,
		};
	},
};

try {
	console.log(JSON.stringify(await readers[client]()));
} catch (error) {
	console.log(JSON.stringify({ status: error.status ?? null, name: error.constructor.name }));
}
