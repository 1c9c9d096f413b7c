// A request for a chat completion: the parts that the scripted model reads.

/**
 * @typedef {Record<string, any>} Schema a JSON schema
 * @typedef {{ name: string; description: string; parameters: Schema }} Tool a tool that may be called
 * @typedef {{ id: string; name: string; arguments: any }} Call a call that the model has made
 * @typedef {{ role: "system" } | { role: "user"; text: string; files: number } | { role: "assistant"; text: string; calls: Call[] } | { role: "tool"; call: string; text: string }} Message
 * @typedef {{ model: string; messages: Message[]; tools: Tool[]; schema: Schema | undefined; streams: boolean; tellsUsage: boolean; maxTokens: number | undefined; tokens: number }} ChatRequest
 */

/** The error for an invalid request, with the reason. */
export class Refusal extends Error {}

/**
 * Reads a request.
 *
 * @param {string} body
 * @returns {ChatRequest}
 * @throws {Refusal}
 */
export function readRequest(body) {
  const json = parse(body);
  if (json === undefined) throw new Refusal("the body is not JSON");
  if (!Array.isArray(json?.messages) || json.messages.length === 0) throw new Refusal("`messages` must be an array of at least one message");
  const format = json.response_format;
  const maxTokens = [json.max_completion_tokens, json.max_tokens].find(Number.isSafeInteger);
  return {
    model: text(json.model) || "scripted",
    messages: json.messages.map(readMessage),
    tools: list(json.tools).map(readTool),
    schema: format?.type === "json_schema" ? format.json_schema?.schema ?? {} : format?.type === "json_object" ? { type: "object" } : undefined,
    streams: json.stream === true,
    tellsUsage: json.stream_options?.include_usage === true,
    maxTokens,
    tokens: tokens(body),
  };
}

/** @param {any} message @returns {Message} */
function readMessage(message) {
  const { text: said, files } = readContent(message?.content);
  switch (message?.role) {
    case "system":
    case "developer":
      return { role: "system" };
    case "user":
      return { role: "user", text: said, files };
    case "assistant":
      return { role: "assistant", text: said, calls: list(message.tool_calls).map(readCall) };
    case "tool":
      if (typeof message.tool_call_id !== "string") throw new Refusal("a message of role `tool` has no `tool_call_id`");
      return { role: "tool", call: message.tool_call_id, text: said };
    default:
      throw new Refusal(`there is no role ${JSON.stringify(message?.role ?? null)} of a message`);
  }
}

/** The text of a message's content, and the number of its other parts. @param {any} content */
function readContent(content) {
  if (!Array.isArray(content)) return { text: text(content), files: 0 };
  const texts = content.flatMap((part) => (typeof part?.text === "string" ? [part.text] : []));
  return { text: texts.join("\n"), files: content.length - texts.length };
}

/** @param {any} call @returns {Call} */
function readCall(call) {
  return { id: text(call?.id), name: text(call?.function?.name), arguments: parse(text(call?.function?.arguments)) };
}

/** @param {any} tool @returns {Tool} */
function readTool(tool) {
  const { name, description, parameters } = tool?.function ?? {};
  if (typeof name !== "string") throw new Refusal("a tool has no `function.name`");
  return { name, description: text(description), parameters: parameters ?? {} };
}

/** @param {string} json @returns {any} undefined if the text is not JSON */
function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** @param {unknown} value @returns {any[]} */
const list = (value) => (Array.isArray(value) ? value : []);

/** @param {unknown} value */
const text = (value) => (typeof value === "string" ? value : "");

/** The estimated number of tokens of a text: one for every four bytes. @param {string} text */
export const tokens = (text) => Math.ceil(new TextEncoder().encode(text).length / 4);
