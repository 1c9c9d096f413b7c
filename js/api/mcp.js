// Tools of MCP servers, by the names of the servers in remotes.toml.
import { jsonText } from "./json.js";
import { durable } from "./steps.js";

/** @typedef {import("./link.js").Link} Link */

/**
 * The function that gives an MCP server to a run.
 *
 * @param {Link} link @param {string} [toolCallId] The id of the call, in a tool.
 */
export function mcpOf(link, toolCallId) {
  const calls = new ServerCalls(link, toolCallId === undefined ? "" : `${toolCallId}/`);
  return (/** @type {string} */ server) => ({
    tools: () => link.run(async () => (await toolsOf(link, server)).map(({ isReadOnly: _, ...tool }) => tool)),
    call: (/** @type {string} */ tool, args = {}) => link.run(() => calls.call(server, tool, args)),
  });
}

/** @param {Link} link @param {string} server @returns {Promise<(import("../index.d.ts").McpTool & { isReadOnly: boolean })[]>} */
const toolsOf = async (link, server) => JSON.parse(await link.ask("mcpTools", server));

/** The calls of a run. */
class ServerCalls {
  #link;
  #prefix;
  /** The tools of each server that only read, once they are known. @type {Map<string, Promise<Set<string>>>} */
  #readers = new Map();
  #reads = 0;

  /** @param {Link} link @param {string} prefix What the keys of its calls begin with, which no other run of the turn has. */
  constructor(link, prefix) {
    this.#link = link;
    this.#prefix = prefix;
  }

  /**
   * Calls a tool: as a step, unless the server says that the tool only reads.
   *
   * @param {string} server @param {string} tool @param {unknown} args
   */
  async call(server, tool, args) {
    const given = jsonText(args, `the arguments of ${tool}`);
    const step = `call ${server} ${tool}`;
    const work = (/** @type {string} */ key) => this.#link.ask("mcpCall", server, tool, given, `${this.#prefix}${step}/${key}`);
    if (await this.#onlyReads(server, tool)) return JSON.parse(await work(`read ${(this.#reads += 1)}`));
    return durable(this.#link, step, this.#link.call("beginStep", step), (nth) => work(String(nth)));
  }

  /** Whether the server says that a tool only reads. @param {string} server @param {string} tool */
  async #onlyReads(server, tool) {
    let readers = this.#readers.get(server);
    if (readers === undefined) {
      const tools = toolsOf(this.#link, server).catch(() => []);
      readers = tools.then((all) => new Set(all.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name)));
      this.#readers.set(server, readers);
    }
    return (await readers).has(tool);
  }
}
