// Tools of MCP servers, by the names of the servers in remotes.toml.
import { jsonText } from "./json.js";
import { durable } from "./steps.js";

/** @typedef {import("./link.js").Link} Link */

/**
 * The function that gives an MCP server to a run.
 *
 * @param {Link} link
 */
export function mcpOf(link) {
  /** The tools of each server that only read, once they are known. @type {Map<string, Promise<Set<string>>>} */
  const readers = new Map();
  return (/** @type {string} */ server) => ({
    tools: () => link.run(async () => (await toolsOf(link, server)).map(({ isReadOnly: _, ...tool }) => tool)),
    call: (/** @type {string} */ tool, args = {}) => link.run(() => call(link, server, tool, args, readers)),
  });
}

/** @param {Link} link @param {string} server @returns {Promise<(import("../index.d.ts").McpTool & { isReadOnly: boolean })[]>} */
const toolsOf = async (link, server) => JSON.parse(await link.ask("mcpTools", server));

/**
 * Calls a tool: as a step, unless the server says that the tool only reads.
 *
 * @param {Link} link @param {string} server @param {string} tool @param {unknown} args @param {Map<string, Promise<Set<string>>>} readers
 */
async function call(link, server, tool, args, readers) {
  const given = jsonText(args, `the arguments of ${tool}`);
  const work = () => link.ask("mcpCall", server, tool, given);
  if (!readers.has(server)) readers.set(server, readersOf(link, server));
  if ((await readers.get(server))?.has(tool)) return JSON.parse(await work());
  const step = `call ${server} ${tool}`;
  return durable(link, step, link.call("beginStep", step), work);
}

/** The tools of a server that only read; none if the server does not say. @param {Link} link @param {string} server */
async function readersOf(link, server) {
  const tools = await toolsOf(link, server).catch(() => []);
  return new Set(tools.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name));
}
