// Programs of MCP: clients that use agents as tools, and servers that our client for the command line (crates/mcp/examples/tools.rs) calls.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bearer, caller, fresh } from "../e2e/access.ts";
import { startWorker } from "../e2e/harness.ts";
import { only } from "../e2e/mcp.ts";
import { start } from "../e2e/native-call.ts";
import { startPython } from "../e2e/servers/walk.ts";

/** A Worker with agents for everybody, and the agent `closed`, which asks for the key. */
async function withAgents<T>(work: (origin: string, key: string) => Promise<T>): Promise<T> {
  const key = fresh();
  const access = { schemes: { token: { kind: "bearer", callers: [caller("alice", ["KEY"])] } } };
  const agents = only({ demo: { of: "demo" }, double: { of: "double" }, asking: { of: "asking" }, closed: { of: "double", access } });
  const worker = await startWorker({ vars: { AGENTS: agents, KEY: key } });
  try {
    return await work(worker.url, key);
  } finally {
    await worker.stop();
  }
}

/** Has a client walk through the tools in an era: `run` starts it with the origin, the era and the key. */
export async function usesTools(run: (...args: string[]) => Promise<string>, mode: string, steps: number): Promise<void> {
  const told = await withAgents((origin, key) => run(origin, mode, key));
  assert.equal(told.match(/: ok$/gm)?.length, steps, told);
}

const INSPECTOR = fileURLToPath(new URL("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", import.meta.url));

interface Inspected {
  code: number;
  result?: { tools?: { name: string }[]; content?: { text: string }[]; structuredContent?: { state: string } };
  error?: { code: string; message: string };
  log: string;
}

/** Has the command line of MCP Inspector look at the tools in an era. What it remembers of servers stays in a folder of its own. */
export async function inspects(mode: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "a2a-edge-inspector-"));
  const env = { ...process.env, HOME: home, NO_PROXY: "127.0.0.1" };
  const inspect = (url: string, method: string, ...more: string[]): Promise<Inspected> => {
    const args = [INSPECTOR, "--cli", url, "--transport", "http", "--protocol-era", mode, "--stored-auth-only", "--format", "json", "--method", method, ...more];
    return new Promise((done) => {
      execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
        const line = [...stdout.split("\n"), ...stderr.split("\n")].find((line) => line.startsWith("{")) ?? "{}";
        done({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, ...(JSON.parse(line) as object), log: stderr });
      });
    });
  };
  try {
    await withAgents(async (origin, key) => {
      const url = `${origin}/mcp`;
      const listed = await inspect(url, "tools/list", "--strict");
      assert.equal(listed.code, 0, listed.log);
      const names = listed.result?.tools?.map(({ name }) => name) ?? [];
      assert.ok(["demo", "double", "asking", "get_task", "cancel_task"].every((name) => names.includes(name)), names.join());
      const { code, result, log } = await inspect(url, "tools/call", "--tool-name", "double", "--tool-arg", "message=hello");
      assert.deepEqual([code, result?.content?.[0]?.text, result?.structuredContent?.state], [0, "hello", "completed"], log);
      assert.equal((await inspect(url, "tools/call", "--tool-name", "nobody")).error?.code, "tool_not_found");

      const closed = `${origin}/closed/mcp`;
      const refused = await inspect(closed, "tools/list");
      assert.deepEqual([refused.code === 0, refused.error?.code], [false, "auth_required"], refused.log);
      const header = `Authorization: ${bearer(key)["authorization"]}`;
      const inside = await inspect(closed, "tools/call", "--tool-name", "closed", "--tool-arg", "message=hello", "--header", header);
      assert.equal(inside.result?.content?.[0]?.text, "hello", inside.log);
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Has our client call the tools of a server in Python, made with this library. */
export async function servesTools(interpreter: string, program: string, library: string): Promise<void> {
  const server = await startPython(interpreter, program, library);
  const tools = (...args: string[]) => start("tools", [`${server.url}/mcp`, ...args]).ended;
  const call = (name: string, args: object = {}) => tools("call", name, JSON.stringify(args));
  try {
    const { revision, name } = JSON.parse((await tools("discover")).output) as Record<string, unknown>;
    assert.deepEqual([revision, name], ["2026-07-28", "sample"]);
    const listed = await tools("list");
    const names = ["echo", "weather", "count", "fail", "pixel", ...(library === "fastmcp" ? ["later"] : [])];
    assert.deepEqual(listed.output.trim().split("\n").map((line) => line.split(" ")[0]), names, listed.notes);
    assert.match((await call("echo", { text: "größer" })).output, /^größer\n/);
    assert.match((await call("weather", { city: "Rome" })).output, /^\{"structuredContent":\{"city":"Rome","degrees":21.5\}\}$/m);
    const counted = await call("count", { to: 3 });
    // What comes at once is told once, the newest last.
    assert.match(counted.notes, /^3 of 3 step 3$/m);
    assert.match(counted.output, /^counted\n/);
    const failed = await call("fail");
    assert.deepEqual([failed.code, /it does not work/.test(failed.output)], [1, true]);
    const wrong = await call("echo", { text: {} });
    assert.equal(wrong.code, 1, wrong.output);
    assert.match((await call("pixel")).output, /^\{"type":"image","data":"iVBORw0KGgo[^"]+","mimeType":"image\/png"\}$/m);
    assert.deepEqual((await call("dance")).notes, "tools: the server has no tool dance\n");
    if (library === "fastmcp") {
      const later = await call("later");
      assert.match(later.notes, /^task \S+$/m);
      assert.match(later.output, /^done later\n/);
    }
  } finally {
    await server.stop();
  }
}
