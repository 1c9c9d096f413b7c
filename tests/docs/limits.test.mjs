// docs/limits.md has the limits that the code has, and docs/deploying.md the costs that follow from docs/scale.md.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "./markdown.mjs";

const read = (path) => readFileSync(join(root, path), "utf8");
const cells = (line) => line.split("|").slice(1, -1).map((cell) => cell.trim());
const rows = (text) => text.split("\n").filter((line) => /^\|[^-]/.test(line)).map(cells);
const limits = rows(read("docs/limits.md"));

/** Settings that bound nothing that a user can meet. */
const NO_LIMITS = new Set(["TASK_GRACE_MS", "KEEP_ALIVE_MS", "EVENT_INTERVAL_MS", "INDEX_WAIT_MS", "WEBHOOK_RETRY_MS", "WEBHOOK_SUSPEND_AFTER"]);

test("every setting with a number is in limits.md with its default", () => {
  const settings = rows(read("docs/settings.md")).filter(([name, value]) => /^`[A-Z_]+`$/.test(name) && /^\d+$/.test(value));
  assert.ok(settings.length > 20, "docs/settings.md is read");
  for (const [name, value] of settings.filter(([name]) => !NO_LIMITS.has(name.slice(1, -1)))) {
    const row = limits.find(([, , setting]) => setting?.startsWith(name));
    assert.ok(row, `${name} is missing`);
    assert.equal(/^\d+/.exec(row[1])?.[0], value, name);
  }
});

/** Fixed limits: a row of the page, a pattern for its number, and where the code has it. */
const FIXED = [
  ["an answer of [an agent behind HTTP](http-agents.md)", /^(\d+) MiB/, "src/executor/http/exchange.rs", /MAX_ANSWER_BYTES: usize = (\d+) \* 1024 \* 1024/],
  ["a line, an event or a document of such an answer", /^(\d+) MiB/, "src/executor/http/frames.rs", /MAX_FRAME_BYTES: usize = (\d+) \* 1024 \* 1024/],
  ["all bodies that arrive at an isolate at the same time", /^(\d+) MiB/, "src/room/mod.rs", /LARGE_ROOM_BYTES: usize = (\d+) \* 1024 \* 1024/],
  ["those of them of at most 64 KiB", /^(\d+) MiB/, "src/room/mod.rs", /SMALL_ROOM_BYTES: usize = (\d+) \* 1024 \* 1024/],
  ["nesting of JSON", /^(\d+)/, "crates/a2a/src/model/reading.rs", /MAX_JSON_DEPTH: usize = (\d+)/],
  ["an `Idempotency-Key`", /^(\d+)/, "crates/a2a/src/binding/service_parameters.rs", /MAX_KEY_CHARS: usize = (\d+)/],
  ["a page of ListTasks", /^(\d+) tasks/, "crates/a2a/src/model/request.rs", /MAX_PAGE_SIZE: u8 = (\d+)/],
  ["a page of ListTasks", /(\d+) MiB/, "src/edge/front/facts/page.rs", /MAX_PAGE_BYTES: usize = (\d+) \* 1024 \* 1024/],
  ["sums of what callers have used are kept for", /^(\d+) days/, "src/edge/service/usage.rs", /SUM_DAYS: i64 = (\d+)/],
  ["a number in the usage that a program reports for a turn", /^(\d+)/, "src/executor/http/verb.rs", /MAX_USED: u64 = ([\d_]+)/],
  ["a wait of a run that is parked", /^(\d+) days/, "src/executor/turn/wait.rs", /LONGEST_WAIT_MS: u64 = ([\d_]+) \* 86_400_000/],
  ["callbacks of a run", /^(\d+)/, "src/session/run/callbacks.rs", /MAX_CALLBACKS: usize = ([\d_]+)/],
  ["a run of a script is parked for", /^(\d+) days/, "crates/agents/src/script/mod.rs", /MAX_PARK_MS: u64 = ([\d_]+) \* /],
  ["the name of a step", /^(\d+)/, "src/session/run/run_task.rs", /MAX_STEP_NAME_BYTES: usize = (\d+)/],
  ["an answer to `fetch`", /^(\d+) MiB/, "crates/a2a/src/http/mod.rs", /max_bytes: (?:(\d+) \* )?1024 \* 1024/],
  ["an answer to `fetch`", /(\d+) s$/, "crates/a2a/src/http/mod.rs", /timeout_ms: (\d+)_000/],
  ["a URL", /^(\d+)/, "crates/a2a/src/model/webhook.rs", /MAX_URL_BYTES: usize = ([\d_]+)/],
  ["an id", /^(\d+)/, "crates/a2a/src/model/webhook.rs", /MAX_ID_CHARS: usize = (\d+)/],
  ["a token, credentials", /^(\d+)/, "crates/a2a/src/model/webhook.rs", /MAX_HEADER_BYTES: usize = ([\d_]+)/],
  ["a signing secret", /^(\d+)/, "crates/a2a/src/model/webhook.rs", /MIN_SECRET_BYTES: usize = (\d+)/],
  ["a signing secret", /to (\d+)/, "crates/a2a/src/model/webhook.rs", /MAX_SECRET_BYTES: usize = (\d+)/],
  ["a key, a token, a name with its password", /^(\d+) KiB/, "src/auth/credential.rs", /MAX_CREDENTIAL_BYTES: usize = (\d+) \* 1024/],
  ["genuine tokens that an instance knows of an agent", /^(\d+)/, "src/auth/known.rs", /MAX_KNOWN: usize = ([\d_]+)/],
  ["credentials for a task", /^(\d+) KiB/, "src/auth/given.rs", /MAX_BYTES: usize = (\d+) \* 1024/],
  ["a key set, a discovery document", /^(\d+) KiB/, "src/remembered.rs", /MAX_VALUE_BYTES: usize = (\d+) \* 1024/],
  ["keys of a set", /^(\d+)/, "src/auth/key_set.rs", /MAX_KEYS: usize = (\d+)/],
  ["an answer of an MCP server", /^(\d+) MiB/, "crates/mcp/src/client/settings.rs", /max_bytes: (\d+) \* 1024 \* 1024/],
  ["tools of a server, pages of its list", /^(\d+)/, "crates/mcp/src/client/settings.rs", /max_tools: ([\d_]+)/],
  ["tools of a server, pages of its list", /, (\d+)$/, "crates/mcp/src/client/settings.rs", /max_pages: ([\d_]+)/],
  ["a tool of a list", /^(\d+) KiB/, "crates/mcp/src/client/list.rs", /MAX_TOOL_BYTES: usize = (\d+) \* /],
  ["a request to a server; a call of a tool", /^(\d+) s;/, "crates/agents/src/remote/mcp.rs", /TIMEOUT_MS: u64 = (\d+)_000/],
  ["a request to a server; a call of a tool", /; (\d+) s/, "crates/agents/src/remote/mcp.rs", /CALL_TIMEOUT_MS: u64 = (\d+)_000/],
  ["rounds of questions of a call", /^(\d+)/, "crates/mcp/src/client/asking.rs", /MAX_ROUNDS: u32 = (\d+)/],
  ["skills that an agent learns from others", /^(\d+)/, "crates/agents/src/learned.rs", /MAX_LEARNED: usize = (\d+)/],
  ["skills that an agent learns from others", /, (\d+) KiB in all/, "crates/agents/src/learned.rs", /MAX_LEARNED_BYTES: usize = (\d+) \* /],
  ["skills that an agent learns from others", /, (\d+) KiB each/, "crates/agents/src/learned.rs", /MAX_TEXT_BYTES: usize = (\d+) \* /],
  ["the name of a tool that an agent is", /^(\d+)/, "crates/mcp/src/agents/tool.rs", /MAX_NAME: usize = (\d+)/],
  ["time of `invoke_remote_agent`", /^(\d+)/, "src/edge/front/mcp/remote.rs", /MAX_TIMEOUT_MS: u64 = ([\d_]+)/],
  ["the name of an agent file", /^(\d+)/, "crates/agents/src/slug.rs", /MAX_CHARS: usize = (\d+)/],
  ["a file that the checker reads", /^(\d+) MiB/, "scripts/lib/checker.mjs", /MAX_FILE_BYTES = (\d+) \* 1024 \* 1024/],
  ["entries of a folder that the checker reads", /^(\d+)/, "scripts/lib/checker.mjs", /MAX_ENTRIES = ([\d_]+)/],
  ["the checked agents that `npm run dev` gives to the Worker", /^(\d+) MiB/, "src/edge/front/agents.rs", /MAX_BYTES: usize = (\d+) \* 1024 \* 1024/],
  ["a pause in a script", /^(\d+)/, "crates/agents/src/script/mod.rs", /MAX_WAIT_MS: u64 = ([\d_]+)/],
  ["repeated pieces in a script", /^(\d+)/, "crates/agents/src/script/mod.rs", /MAX_REPEAT: u64 = ([\d_]+)/],
];

for (const [name, shown, file, constant] of FIXED) {
  test(`the limit of ${name} is that of ${file} (${constant.source.split(":")[0]})`, () => {
    const row = limits.find(([what]) => what === name);
    assert.ok(row, `${name} is missing`);
    const found = constant.exec(read(file));
    assert.ok(found, `${file} has no ${constant}`);
    assert.equal(shown.exec(row[1])?.[1], (found[1] ?? "1").replaceAll("_", ""));
  });
}

test("the costs in deploying.md are those that scale.md gives", () => {
  const scale = read("docs/scale.md");
  const [, uses] = scale.split("for one task:");
  const [, prices] = scale.split("\nPrices:\n");
  const number = (text) => Number(text.replace(/[$,]/g, ""));
  const million = (text) => (/billion/.test(text) ? 1e9 : /million/.test(text) ? 1e6 : 1) * Number(text.replace(/[^\d.]/g, ""));
  const used = new Map(rows(uses.split("\nPrices:")[0]).slice(1).map(([unit, quick, streamed]) => [unit, number(quick) / 2 + number(streamed) / 2]));
  const priced = rows(prices).slice(1).map(([unit, price, included]) => ({ unit, price: number(price), included: million(included) }));
  assert.equal(used.size, 8);
  const [, kb] = /an object of a small task takes ([\d.]+) KB/.exec(scale);
  const page = rows(read("docs/deploying.md"));
  const row = (what) => page.find(([name]) => name.includes(what)).slice(1).map((cell) => Number(cell.replace(/\*/g, "")));

  for (const [column, tasks] of [100_000, 1_000_000].entries()) {
    const beyond = new Map(priced.map(({ unit, price, included }) => [unit, (Math.max(0, used.get(unit) * tasks - included) * price) / 1e6]));
    const storage = Math.max(0, (Number(kb) * tasks) / 1e6 - 5) * 0.2;
    const shown = { "time in which objects": "GB-s of objects", "requests to objects": [...beyond.keys()].find((unit) => unit.startsWith("requests to objects")) };
    for (const [what, unit] of Object.entries(shown)) assert.equal(row(what)[column], Number(beyond.get(unit).toFixed(2)), `${what}, ${tasks}`);
    assert.equal(row("storage of objects")[column], Number(storage.toFixed(2)), `storage, ${tasks}`);
    const others = [...beyond].filter(([unit]) => !Object.values(shown).includes(unit)).reduce((sum, [, cost]) => sum + cost, 0);
    assert.equal(row("all else")[column], Number(others.toFixed(2)), `all else, ${tasks}`);
    const sum = 5 + [...beyond.values()].reduce((total, cost) => total + cost, 0) + storage;
    assert.equal(row("together")[column], Number(sum.toFixed(2)), `together, ${tasks}`);
  }
});
