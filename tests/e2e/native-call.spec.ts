// The native client for the command line, and the coordinator, against this server: each operation, in each version, over both bindings.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { Agent, until } from "./client.ts";
import { KEYS, TOKEN, startClub } from "./club.ts";
import type { Worker } from "./harness.ts";
import { call, start } from "./native-call.ts";

let worker: Worker;
let demo: string;
/** An origin in front of the Worker, which the signed cards contain. Answers below /lie/ have another name than the signed one. */
let proxy: Server;
let origin: string;
before(async () => {
  proxy = createServer(async ({ url: path = "", headers }, response) => {
    const [answer] = await once(request(worker.url, { path: path.replace("/lie/", "/"), headers }).end(), "response");
    const body = await text(answer);
    response.writeHead(answer.statusCode).end(path.startsWith("/lie/") ? body.replace('"name":"Demo"', '"name":"Demon"') : body);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  worker = await startClub({ ORIGINS: origin, SIGNING_JWK: JSON.stringify(privateKey.export({ format: "jwk" })) });
  demo = `${worker.url}/demo`;
});
after(async () => {
  proxy.close();
  await worker.stop();
});

/** The id of the task in the notes on standard error. */
function taskIn(notes: string): string {
  const [, id] = /task ([0-9a-f]{64})/.exec(notes) ?? [];
  assert.ok(id !== undefined, notes);
  return id;
}

test("a card is shown to people, and as it came (§8.2)", async () => {
  const { code, output } = await call("card", demo);
  assert.equal(code, 0);
  assert.match(output, /^## Demo\n\nGives back any text/);
  assert.match(output, /- \*\*Ask\*\*: Asks for a colour and waits for the answer\.\n {2}- for example: ask\n/);
  assert.ok(output.includes(`- ${demo} (JSONRPC 1.0)`), output);
  const { output: json } = await call("card", `${demo}/.well-known/agent-card.json`, "--json");
  assert.equal((JSON.parse(json) as { name: string }).name, "Demo");
});

test("the signatures of a card are verified where that is wanted (§8.4)", async () => {
  for (const mode of ["required", "if-signed"]) {
    const { code, output, notes } = await call("card", `${origin}/demo`, "--verify", mode);
    assert.deepEqual([code, output.startsWith("## Demo\n")], [0, true], notes);
    const lie = await call("card", `${origin}/lie/demo`, "--verify", mode);
    assert.deepEqual([lie.code, lie.notes], [1, "call: the card cannot be used: its signature is wrong\n"]);
  }
  assert.match((await call("card", `${origin}/lie/demo`)).output, /^## Demon\n/);
  const unsigned = await call("card", demo, "--verify", "required");
  assert.deepEqual([unsigned.code, unsigned.notes], [1, "call: the card cannot be used: it is not signed\n"]);
  assert.equal((await call("card", demo, "--verify", "if-signed")).code, 0);
});

const ways = ["1.0", "0.3"].flatMap((version) => ["JSONRPC", "HTTP+JSON"].map((binding) => ["--version", version, "--binding", binding]));
for (const way of ways) {
  test(`a question is answered, and the task shown: ${way.join(" ")} (§3.1.1, §3.1.3)`, async () => {
    const asked = await call("send", demo, "ask", ...way);
    assert.deepEqual([asked.code, asked.output], [3, "Which colour?\n"]);
    const task = taskIn(asked.notes);
    assert.ok(asked.notes.includes(`To answer: call send ${demo} --task ${task} TEXT`), asked.notes);
    const answered = await call("send", demo, "green", "--task", task, ...way);
    assert.deepEqual([answered.code, answered.output], [0, "green\n"]);
    const { code, output, notes } = await call("get", demo, task, ...way);
    assert.deepEqual([code, output], [0, "green\n"]);
    assert.match(notes, /^\[completed\] task/);
  });

  test(`chunks come as they are made: ${way.join(" ")} (§3.1.2)`, async () => {
    const running = start("call", ["send", demo, "count 4 every 800", ...way]);
    // Output before the end of the task can only come from the stream.
    await until(() => Promise.resolve(running.output()), (text) => text.startsWith("tick "));
    assert.doesNotMatch(running.notes(), /completed/);
    const { code, output } = await running.ended;
    assert.deepEqual([code, output], [0, "tick tick tick tick \n"]);
  });

  test(`a task is followed from another place, and canceled: ${way.join(" ")} (§3.1.5, §3.1.6)`, async () => {
    const { id } = await new Agent(demo).sendForTask("hold 60000", { returnImmediately: true });
    const following = start("call", ["subscribe", demo, id, ...way]);
    await until(() => Promise.resolve(following.notes()), (notes) => notes.includes("[working]"));
    const canceled = await call("cancel", demo, id, ...way);
    assert.equal(canceled.code, 0);
    assert.match(canceled.notes, /^\[canceled\] task/);
    assert.equal((await following.ended).code, 5);
  });
}

test("an agent that is not streamed is polled, and shows the same", async () => {
  const { code, output } = await call("send", demo, "chunks", "--no-stream");
  assert.deepEqual([code, output], [0, "one two three\n"]);
});

test("a text is shown once by a stream that is cut, and goes on without what came meanwhile (§3.1.6)", async () => {
  const ids = { taskId: "t-1", contextId: "c-1" };
  const task = (state: string, ...texts: string[]) => ({
    id: "t-1", contextId: "c-1", status: { state: `TASK_STATE_${state}` }, artifacts: texts.length > 0 ? [{ artifactId: "a", parts: texts.map((text) => ({ text })) }] : [],
  });
  const chunk = (text: string) => ({ artifactUpdate: { ...ids, append: true, artifact: { artifactId: "a", parts: [{ text }] } } });
  const end = { statusUpdate: { ...ids, status: { state: "TASK_STATE_COMPLETED" } } };
  const forgetful = createServer(async (request, response) => {
    const url = `http://127.0.0.1:${(forgetful.address() as AddressInfo).port}`;
    const card = {
      name: "F", description: "", version: "1", capabilities: { streaming: true }, defaultInputModes: [], defaultOutputModes: [], skills: [],
      supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    };
    const body = await text(request);
    const { id, method } = (body === "" ? {} : JSON.parse(body)) as { id?: string; method?: string };
    const rpc = (result: object): string => JSON.stringify({ jsonrpc: "2.0", id, result });
    if (method === undefined || method === "GetTask") {
      response.setHeader("content-type", "application/json").end(method === undefined ? JSON.stringify(card) : rpc({ ...task("COMPLETED", "one ", "two ", "three") }));
      return;
    }
    const isSend = method === "SendStreamingMessage";
    const events = isSend ? [{ task: task("WORKING") }, chunk("one ")] : [chunk("three"), end];
    response.setHeader("content-type", "text/event-stream").write(events.map((event) => `data: ${rpc(event)}\n\n`).join(""), () => (isSend ? response.destroy() : response.end()));
  });
  await once(forgetful.listen(0, "127.0.0.1"), "listening");
  try {
    const { code, output, notes } = await call("send", `http://127.0.0.1:${(forgetful.address() as AddressInfo).port}`, "count");
    assert.deepEqual([code, output], [0, "one two three\n"], notes);
  } finally {
    forgetful.closeAllConnections();
    forgetful.close();
  }
});

test("tasks are listed, those of a conversation alone where that is asked (§3.1.4)", async () => {
  const context = `c-${Date.now()}`;
  const sent = await call("send", demo, "hello", "--context", context);
  const { code, output } = await until(() => call("list", demo, "--context", context), ({ output }) => output !== "");
  assert.deepEqual([code, output], [0, `${taskIn(sent.notes)}  completed\n`]);
  const { output: all } = await call("list", demo, "--json", "--binding", "http+json");
  const tasks = all.trim().split("\n").map((line) => (JSON.parse(line) as { id: string }).id);
  assert.ok(tasks.includes(taskIn(sent.notes)));
});

test("each end has its exit code and its text", async () => {
  for (const [text, code, output] of [
    ["hello", 0, "hello\n"],
    ["message", 0, "A message instead of a task.\n"],
    ["fail", 1, "It did not work, as you wished.\n"],
    ["reject", 1, "I would rather not.\n"],
    ["auth", 4, "Please sign in and say so.\n"],
  ] as const) {
    const ended = await call("send", demo, text);
    assert.deepEqual([ended.code, ended.output], [code, output], text);
  }
  const late = await call("send", demo, "hold 60000", "--timeout", "5");
  assert.equal(late.code, 6);
  const canceled = await new Agent(demo).getTask(taskIn(late.notes));
  assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
  const lines = (await call("send", demo, "hello", "--json")).output.trim().split("\n");
  assert.ok(lines.map((line) => Object.keys(JSON.parse(line) as object)).flat().includes("artifactUpdate"));
});

test("an agent of 0.1 is called by its own card (tasks/send)", async () => {
  const sum = JSON.stringify({ tool: "add_numbers", arguments: { a: 2, b: 3 } });
  const { code, output, notes } = await call("send", `${worker.url}/numbers`, "", "--data", sum, "--version", "0.1");
  assert.deepEqual([code, output], [0, "5\n"], notes);
});

test("credentials are sent as a token, as a key, and from the environment, and never shown", async () => {
  const club = `${worker.url}/club`;
  for (const [options, env] of [
    [["--bearer", TOKEN], {}],
    [["--api-key", `X-Club-Key=${KEYS.member}`], {}],
    [["--header", `X-Club-Key: ${KEYS.member}`], {}],
    [[], { A2A_BEARER: TOKEN }],
    [[], { A2A_API_KEY: `X-Club-Key=${KEYS.member}` }],
  ] as [string[], Record<string, string>][]) {
    const { code, output, notes } = await start("call", ["send", club, "hello", ...options], env).ended;
    assert.deepEqual([code, output], [0, "hello\n"], notes);
  }
  for (const options of [[], ["--bearer", "a-wrong-secret"], ["--api-key", "query:key=a-wrong-secret"]]) {
    const { code, output, notes } = await call("send", club, "hello", ...options);
    assert.deepEqual([code, output], [1, ""], notes);
    assert.match(notes, /credentials are (needed|wrong)|the (token|key)|wrong/);
    assert.doesNotMatch(notes, /a-wrong-secret/);
  }
});

test("a wrong command line is told, and help is there", async () => {
  for (const [args, reason] of [
    [["send", "https://a.example"], /TEXT is missing/],
    [["fly", "https://a.example"], /there is no command "fly"/],
    [["card", "https://a.example", "--version", "9"], /--version must be 1.0, 0.3 or 0.1, got "9"/],
    [["card", "https://a.example", "--frob", "9"], /there is no option --frob/],
    [["send", "https://a.example", "two", "words"], /one argument too many/],
  ] as const) {
    const { code, notes } = await call(...args);
    assert.equal(code, 2);
    assert.match(notes, reason);
  }
  const help = await call("--help");
  assert.equal(help.code, 0);
  assert.match(help.output, /^Calls an A2A agent/);
  const nowhere = await call("card", `${worker.url}/nobody`);
  assert.equal(nowhere.code, 0, "the card at the origin");
});

test("a coordinator asks several agents, and answers a question", async () => {
  const { code, output, notes } = await start("coordinator", ["ask", demo, `${worker.url}/assistant`]).ended;
  assert.equal(code, 0, notes);
  const lines = output.trim().split("\n");
  assert.match(lines[0] ?? "", /^demo: \[INPUT_REQUIRED:task_id=[0-9a-f]{64}\] Which colour\?$/);
  assert.equal(lines[1], "demo: [COMPLETED] blue");
  assert.match(lines[2] ?? "", /^assistant: \[/);
});
