// MCP servers: functions of the test as tools, over streamable HTTP of 2026-07-28.

/** @typedef {import("./index.d.ts").McpFunction} McpFunction */
/** @typedef {import("./index.d.ts").TestMcpTool} TestMcpTool */

const VERSION = "2026-07-28";

/** The URL of the MCP server with this name. @param {string} name */
export const mcpUrl = (name) => `https://${encodeURIComponent(name).toLowerCase()}.mcp.test/mcp`;

/** The MCP servers of a test. */
export class McpServers {
  /** @type {Map<string, Map<string, TestMcpTool>>} */
  #servers;

  /** @param {Record<string, Record<string, McpFunction | TestMcpTool>>} servers The tools of each server by their names. */
  constructor(servers) {
    const tools = (/** @type {Record<string, McpFunction | TestMcpTool>} */ given) =>
      new Map(Object.entries(given).map(([name, one]) => [name, typeof one === "function" ? { execute: one } : one]));
    this.#servers = new Map(Object.entries(servers).map(([name, given]) => [mcpUrl(name), tools(given)]));
  }

  /**
   * Answers a request to one of the servers.
   *
   * @param {Request} request
   * @returns {Promise<Response> | undefined} Undefined if it is to somebody else.
   */
  answer(request) {
    const tools = this.#servers.get(request.url);
    return tools && answerOf(tools, request);
  }
}

/** @param {Map<string, TestMcpTool>} tools @param {Request} request */
async function answerOf(tools, request) {
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const { id, method, params } = /** @type {any} */ (await request.json());
  if (id === undefined) return new Response(null, { status: 202 });
  switch (method) {
    case "server/discover":
      return result(id, { supportedVersions: [VERSION], capabilities: { tools: {} }, serverInfo: { name: "test", version: "1.0.0" } });
    case "tools/list":
      return result(id, { tools: [...tools].map(listed) });
    case "tools/call": {
      const tool = tools.get(params.name);
      if (tool === undefined) return failure(id, -32602, `there is no tool ${JSON.stringify(params.name)}`);
      return result(id, await called(tool, params.arguments ?? {}));
    }
    default:
      return failure(id, -32601, `the MCP servers of a test have no ${method}`);
  }
}

/** @param {[string, TestMcpTool]} tool */
const listed = ([name, { description = "A tool of the test.", inputSchema = { type: "object" }, isReadOnly = false }]) => ({
  name, description, inputSchema, annotations: { readOnlyHint: isReadOnly },
});

/** @param {TestMcpTool} tool @param {Record<string, any>} args */
async function called(tool, args) {
  try {
    const value = await tool.execute(args);
    if (typeof value === "string") return { content: [{ type: "text", text: value }] };
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return { content: [{ type: "text", text: JSON.stringify(value ?? null) }], ...(isObject && { structuredContent: value }) };
  } catch (error) {
    return { content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }], isError: true };
  }
}

/** @param {unknown} id @param {object} value */
const result = (id, value) => Response.json({ jsonrpc: "2.0", id, result: value });

/** @param {unknown} id @param {number} code @param {string} message */
const failure = (id, code, message) => Response.json({ jsonrpc: "2.0", id, error: { code, message } });
