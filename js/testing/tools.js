// A call of one tool, as an agent of kind `tools` makes it.
import { started } from "./agent.js";
import { Client, isEnded, shown } from "./client.js";
import { KIND, toolTables } from "./project.js";

/** How the engine begins the reason of a call whose arguments do not fit the schema. */
const WRONG = `${KIND} was called with wrong arguments: `;

/**
 * Calls a tool.
 *
 * @param {any} tool @param {unknown} args @param {import("./index.d.ts").TestOptions<any>} [options]
 * @returns {Promise<import("./index.d.ts").ToolOutcome>}
 */
export async function callTool(tool, args, options = {}) {
  if (typeof tool?.execute !== "function") throw new TypeError("callTool() takes a tool: tool({ description, inputSchema, execute })");
  if (options.settings !== undefined) throw new TypeError("tools have no settings");
  const missing = [tool.needs ?? []].flat().find((/** @type {string} */ name) => !{ ...options.env, ...options.secrets }[name]);
  if (missing !== undefined) throw new Error(`the tool needs ${missing}; give it by the option secrets`);

  const { platform, caller } = await started({ tools: { [KIND]: tool }, tables: toolTables, options });
  const client = new Client(platform, caller);
  const message = { messageId: client.nextMessageId(), role: "ROLE_USER", parts: [{ data: { tool: KIND, arguments: args } }] };
  const { task } = await client.call("SendMessage", { message }, message.messageId);
  const [error] = platform.errors.splice(0);
  if (error !== undefined) throw error;
  return outcomeOf(platform, shown(task));
}

/**
 * @param {import("./platform.js").Platform} platform @param {import("./index.d.ts").TestTask} task
 * @returns {import("./index.d.ts").ToolOutcome}
 */
function outcomeOf({ ends, progress }, { state, text, artifacts }) {
  const result = artifacts[`${KIND}-result`];
  if (state === "completed" && result !== undefined) return { parts: result.parts, value: valueOf(result.parts), progress };
  if (!isEnded(state)) throw new Error("the tool has not ended within a minute");
  // Arguments that do not fit are refused before the function is called.
  if (text.startsWith(WRONG)) return { fault: "arguments", text: text.slice(WRONG.length) };
  const { failed = text, fault = "tool" } = ends.length === 0 ? {} : JSON.parse(ends[ends.length - 1] ?? "{}");
  return { fault, text: failed };
}

/** What a tool has given: its text, or its data; several parts as they are. @param {readonly any[]} parts */
function valueOf(parts) {
  const [part] = parts;
  if (parts.length !== 1 || part === undefined) return parts;
  return part.text ?? part.data ?? part;
}
