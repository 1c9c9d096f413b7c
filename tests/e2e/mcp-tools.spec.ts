// Tools of independent MCP servers, called by A2A clients: results of every kind, progress, errors, questions.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fresh } from "./access.ts";
import { Agent, followUp, message, textOf, toolCall, until, untilEnded, type Part, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { startEverything, type McpPeer } from "./mcp-servers.ts";
import { Modern } from "./mcp-tool-servers.ts";
import { calls, ModelServer, resultsIn, say } from "./model-server.ts";
import { withVariants } from "./models.ts";

const MODERN_TOKEN = fresh();
let everything: McpPeer, modern: Modern, model: ModelServer, worker: Worker, workshop: Agent;

before(async () => {
  [everything, modern, model] = await Promise.all([startEverything(), Modern.start(), ModelServer.start()]);
  const AGENTS = withVariants({ clerk: { table: { mcp: ["everything:trigger-elicitation-request"] } } });
  const servers = { EVERYTHING_URL: new URL(everything.url).origin, MODERN_URL: modern.url, MODERN_TOKEN, MODEL_URL: model.url, MODEL_KEY: fresh() };
  worker = await startWorker({ vars: { AGENTS, ...servers } });
  workshop = new Agent(`${worker.url}/workshop`);
});
after(async () => {
  await worker?.stop();
  await everything?.stop();
  modern?.stop();
  model?.stop();
});

const call = (tool: string, given: object = {}): Promise<Task> => workshop.sendForTask(toolCall(tool, given));
const partsOf = (task: Task): Part[] => task.artifacts?.[0]?.parts ?? [];
const stateOf = ({ status }: Task): [string, string] => [status.state.replace("TASK_STATE_", ""), textOf(status.message)];
const data = (value: object): Partial<import("./client.ts").Message> => ({ parts: [{ data: value }] });
const answer = (task: Task, parts: Part[]): Promise<Task> => workshop.sendForTask({ ...followUp(task, ""), parts });

describe("a tool of an MCP server", () => {
  test("of the newest revision gives structured data once, with credentials that nobody sees", async () => {
    const task = await call("add", { a: 2, b: 3 });
    assert.deepEqual(partsOf(task), [{ data: { sum: 5 } }]);
    assert.equal(task.artifacts?.[0]?.name, "add-result");
    assert.deepEqual(new Set(modern.credentials), new Set([`Bearer ${MODERN_TOKEN}`]));
    assert.ok(!JSON.stringify(task).includes(MODERN_TOKEN));
  });

  test("of an older revision gives text, structure, images and links", async () => {
    assert.deepEqual(partsOf(await call("get-sum", { a: 2, b: 3 })), [{ text: "The sum of 2 and 3 is 5." }]);
    const [image] = partsOf(await call("get-tiny-image")).filter(({ raw }) => raw !== undefined);
    assert.equal(image?.mediaType, "image/png");
    assert.equal(Buffer.from(image?.raw ?? "", "base64").subarray(1, 4).toString(), "PNG");
    const links = partsOf(await call("get-resource-links", { count: 2 })).filter(({ url }) => url !== undefined);
    assert.equal(links.length, 2);
    assert.ok(links.every(({ filename }) => filename !== undefined));
    const structured = partsOf(await call("get-structured-content", { location: "Chicago" }));
    assert.deepEqual(structured.map((part) => Object.keys(part.data as object)), [["temperature", "conditions", "humidity"]]);
    const count = (method: string): number => everything.methods.filter((known) => known === method).length;
    assert.ok(count("initialize") > 0);
    // Sessions are ended in the background, after the answer.
    await until(async () => count("DELETE"), (ended) => ended >= count("initialize"));
    assert.equal(count("DELETE"), count("initialize"), "each session is ended");
  });

  test("of the same name as another one is called by the name of its server, too", async () => {
    assert.deepEqual(partsOf(await call("echo", { text: "a" })), [{ text: "a" }]);
    assert.deepEqual(partsOf(await call("modern.echo", { message: "a" })), [{ text: "modern: a" }]);
    assert.deepEqual(partsOf(await call("everything.echo", { message: "a" })), [{ text: "Echo: a" }]);
    assert.deepEqual(partsOf(await call("modern.add", { a: 1, b: 1 })), [{ data: { sum: 2 } }]);
  });

  test("tells how far it is, and not each time", async () => {
    const task = await call("trigger-long-running-operation", { duration: 3, steps: 20 });
    assert.match(textOf(task.artifacts?.[0]), /completed/i);
    const whole = await workshop.getTask(task.id);
    const notes = (whole.history ?? []).map(textOf).filter((said) => said.includes("of 20"));
    assert.ok(notes.length > 0 && notes.length < 15, notes.join());
  });

  test("that fails, and a call that is refused, fail the task and are told apart", async () => {
    const failed = await call("fail");
    assert.deepEqual(stateOf(failed), ["FAILED", "fail failed: it does not want to"]);
    assert.deepEqual(failed.artifacts?.[0]?.metadata, { isError: true, fault: "tool" });
    const unfit = await call("get-sum", { a: "two" });
    assert.equal(stateOf(unfit)[0], "FAILED");
    const unknown = await call("no-such-tool");
    assert.equal(stateOf(unknown)[0], "REJECTED");
    assert.match(stateOf(unknown)[1], /there is no tool "no-such-tool"/);
  });
});

describe("a question of an MCP server", () => {
  test("is asked with its schema, and the answer goes back with its state", async () => {
    const asked = await call("ask_seat", { flight: "A1" });
    const [state, said] = stateOf(asked);
    assert.equal(state, "INPUT_REQUIRED");
    assert.match(said, /^Which seat\?/);
    assert.deepEqual((asked.status.message?.parts[1]?.data as { required: string[] }).required, ["seat"]);
    const done = await workshop.sendForTask(followUp(asked, "4A"));
    const given = { state: "state of A1", answer: { action: "accept", content: { seat: "4A" } }, given: { flight: "A1" } };
    assert.deepEqual(JSON.parse(textOf(done.artifacts?.[0])), given);
  });

  test("can be declined", async () => {
    const asked = await call("ask_seat", { flight: "A2" });
    const done = await answer(asked, [{ data: { action: "decline" } }]);
    assert.deepEqual(JSON.parse(textOf(done.artifacts?.[0])).answer, { action: "decline" });
  });

  test("that leads to a URL asks for authentication there", async () => {
    const asked = await call("author");
    assert.equal(stateOf(asked)[0], "AUTH_REQUIRED");
    assert.equal(asked.status.message?.parts[1]?.url, "https://login.example/?for=1");
    const done = await workshop.sendForTask(followUp(asked, "done"));
    assert.equal(textOf(done.artifacts?.[0]), "accept");
  });

  test("of an older revision is answered on the connection of the call", async () => {
    const asked = await call("trigger-elicitation-request");
    assert.equal(stateOf(asked)[0], "INPUT_REQUIRED");
    const schema = asked.status.message?.parts[1]?.data as { properties: Record<string, unknown> };
    assert.ok("name" in schema.properties);
    const task = await answer(asked, [data({ name: "Ada", check: true }).parts?.[0] as Part]);
    const done = await untilEnded(workshop, task.id);
    assert.equal(stateOf(done)[0], "COMPLETED");
    assert.match(JSON.stringify(done.artifacts), /Ada/);
  });

  test("of an older revision behind a model is asked again until its answer fits, and the model is told what comes of it", async () => {
    const clerk = new Agent(`${worker.url}/clerk`);
    model.answers(calls([["trigger-elicitation-request", {}, "t"]]), say("Registered."));
    const asked = await clerk.sendForTask("register me");
    assert.equal(stateOf(asked)[0], "INPUT_REQUIRED");
    const again = await clerk.sendForTask({ ...followUp(asked, ""), parts: [{ data: { name: 5 } }] });
    assert.equal(stateOf(again)[0], "INPUT_REQUIRED");
    assert.match(stateOf(again)[1], /^that answer does not fit: answer\.name: must be of type string, got number/);
    await clerk.sendForTask({ ...followUp(again, ""), parts: [{ data: { name: "Ada" } }] });
    const done = await untilEnded(clerk, asked.id);
    assert.deepEqual([stateOf(done)[0], textOf(done.artifacts?.at(-1))], ["COMPLETED", "Registered."]);
    assert.match(resultsIn(model.last)["t"] ?? "", /Ada/);
  });
});

describe("a call that takes long", () => {
  test("is canceled with the task", async () => {
    const { id } = await workshop.sendForTask(toolCall("sleep", { note: "cancel me" }), { returnImmediately: true });
    await until(() => workshop.getTask(id), (task) => textOf(task.status.message) === "asleep");
    await workshop.cancelTask(id);
    await until(async () => modern.canceled, (notes) => notes.includes("cancel me"));
  });

  test("of several in one message are made in order", async () => {
    const parts = [...message("").parts.slice(1), ...["a", "b"].flatMap((said) => toolCall("modern.echo", { message: said }).parts)];
    const task = await workshop.sendForTask({ parts });
    assert.deepEqual(task.artifacts?.map(textOf), ["modern: a", "modern: b"]);
  });
});
