// The tasks of a fixture: each in a state of its own, which a later release must be able to read and to go on from.

import { Agent, followUp, message, textOf, toolCall, until, type Message, type Task, type TaskList } from "../e2e/client.ts";
import type { Worker } from "../e2e/harness.ts";
import { ModelServer, calls, say } from "../e2e/model-server.ts";
import type { Sink } from "../e2e/sink.ts";
import { contents, sendStreaming, subscribe, type StreamResponse } from "../e2e/stream.ts";

/** What a Worker must be told to play the scenes: webhooks fail quickly and are tried again much later. */
export const sceneVars = { WEBHOOK_RETRY_MS: "20000", WEBHOOK_TIMEOUT_MS: "300", INDEX_WAIT_MS: "300", RETENTION_MS: "0" };

/** An event, and the generation that is its id. */
export type Event = [number | undefined, StreamResponse | undefined];

/** A task as the release showed it. */
export interface Shown {
  agent: string;
  /** The message that began it. */
  sent: Message;
  task: Task;
  /** Its events from the first one on. */
  log: Event[];
}

/** What the release answered at the end of the scenes. */
export interface Answers {
  /** By scene. */
  tasks: Record<string, Shown>;
  /** The pages of one listing: the parameters of each, and what was answered. */
  pages: { params: Record<string, unknown>; page: TaskList }[];
  /** The key under which the scene `idempotent` was begun. */
  key: string;
  /** What the tool that counts has given last. */
  counted: string;
  /** The webhooks of the scene `webhooks`, and how they have fared. */
  webhooks: { config: Webhook; deliveries: Deliveries }[];
}

/** A webhook as it is listed. */
export interface Webhook {
  id: string;
  taskId: string;
  url: string;
}

/** How a webhook has fared. */
export interface Deliveries {
  health: string;
  deliveredGeneration: number;
  attempts: { generation: number; attempt: number; outcome: string; status?: number }[];
}

/** The extension that lets a webhook choose its events and be signed. */
export const EXTENSION = "urn:a2a-edge:webhooks:v1";

/** A client that belongs to a trace. */
const TRACED = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "a=1" };

/** The tasks of a context that no database takes while the scenes are played. */
const OWED = "context-owed";

/** The model of the agent `thinker`: uses as many tokens as the newest text says, half of them written, and asks for more if that says `ask`. */
export async function openModel(): Promise<ModelServer> {
  const model = await ModelServer.start();
  model.answerWith(({ body }) => {
    const text = JSON.stringify(body.messages.at(-1)?.content);
    const tokens = Number(/\d+/.exec(text)?.[0]);
    const usage: [number, number] = [Math.ceil(tokens / 2), Math.floor(tokens / 2)];
    return text.includes("ask") ? calls([["ask_user", { question: "More?" }, "call_ask"]], { usage }) : say("Done.", { usage });
  });
  return model;
}

/** The variables that name it. */
export const modelVars = (model: ModelServer): Record<string, string> => ({ MODEL_URL: model.url, MODEL_KEY: "key-of-the-scenes" });

/** Plays every scene with the Worker of tests/probes, which is to be killed right after it, so that the runs that are under way stay so. */
export async function play(worker: Worker, sink: Sink): Promise<Answers> {
  const agent = (slug: string, headers: Record<string, string> = {}): Agent => new Agent(`${worker.url}/${slug}`, headers);
  const [demo, faults, tools] = [agent("demo"), agent("faults"), agent("assistant", TRACED)];
  const key = "key-of-the-release";
  const tasks: Record<string, Shown> = {};

  const show = async (scene: string, by: Agent, sent: Message, { id }: Task): Promise<void> => {
    const task = await by.getTask(id);
    tasks[scene] = { agent: new URL(by.endpoint).pathname.slice(1), sent, task, log: await logTo(by, task) };
  };
  const playOne = async (scene: string, by: Agent, said: string | Partial<Message>, configuration = {}): Promise<Task> => {
    const sent = message(said);
    const task = await by.sendForTask(sent, configuration);
    await show(scene, by, sent, task);
    return task;
  };

  // Tasks at rest. The artifact of the first comes in pieces; that of `large` does not fit a row.
  await playOne("finished", demo, { parts: [{ text: "chunks" }], metadata: { from: "a client" } });
  await playOne("failed", demo, "fail");
  await playOne("rejected", demo, "reject");
  await playOne("auth", demo, "auth");
  await playOne("input", demo, "ask");
  await playOne("inputToCancel", demo, "ask");
  await playOne("large", demo, `large ${"x".repeat(1_050_000)}`);
  const canceled = await playOne("canceled", demo, "ask");
  await demo.cancelTask(canceled.id);
  await show("canceled", demo, tasks["canceled"]?.sent ?? message(""), canceled);
  const asked = await playOne("turns", demo, "ask");
  await demo.sendForTask(followUp(asked, "pink"));
  await demo.sendForTask(followUp(asked, "grey"));
  await show("turns", demo, tasks["turns"]?.sent ?? message(""), asked);
  await playOne("idempotent", agent("demo", { "idempotency-key": key }), "hello");

  // What listing shows, in pages.
  for (const nth of [1, 2, 3, 4]) await playOne(`tool${nth}`, tools, toolCall("add_numbers", { a: nth, b: 1 }));
  const pages: Answers["pages"] = [];
  let pageToken: string | undefined;
  do {
    const params = { pageSize: 2, status: "TASK_STATE_COMPLETED", ...(pageToken === undefined ? {} : { pageToken }) };
    const page = await tools.listTasks(params);
    pages.push({ params, page });
    pageToken = page.nextPageToken;
  } while (pageToken !== "");

  // A number that is kept for a caller, by a tool in Rust.
  const { artifacts } = await playOne("counted", agent("probes"), toolCall("get_counter"));

  await speak(worker, tasks);
  const webhooks = await playWebhooks(agent("demo", { "a2a-extensions": EXTENSION }), sink, (sent, task) => show("webhooks", demo, sent, task));

  // A task that the index does not know of yet.
  const d1 = await worker.d1();
  await d1.prepare(`CREATE TRIGGER refused BEFORE INSERT ON tasks WHEN new.context_id = '${OWED}' BEGIN SELECT RAISE(ABORT, 'refused'); END`).run();
  await playOne("owed", demo, { parts: [{ text: "hello" }], contextId: OWED });

  // Turns that have used something of models: one that is counted, and one that the sums have not taken yet.
  await playOne("metered", agent("thinker"), "20 ask");
  await d1.prepare("CREATE TRIGGER uncounted BEFORE INSERT ON usage_turns BEGIN SELECT RAISE(ABORT, 'refused'); END").run();
  await playOne("uncounted", agent("thinker"), "30 ask");

  // Runs that are under way: two with a step that is held, and one that waits.
  for (const [scene, step] of [["working", 3], ["workingToCancel", 2]] as const) {
    sink.plan(`/${scene}/${step}`, "hold");
    const sent = message(`steps 5 ${sink.url}/${scene}`);
    const working = await faults.sendForTask(sent, { returnImmediately: true });
    await sink.arrival(`/${scene}/${step}`);
    await until(() => faults.getTask(working.id), ({ status }) => textOf(status.message) === `step ${step} of 5`);
    await show(scene, faults, sent, working);
  }
  // Runs that are parked: one until a message comes, one until all bodies of a callback have come.
  const patient = agent("patient");
  const parks = message("park 300 days or message");
  await show("parked", patient, parks, await patient.sendForTask(parks));
  const calls = message("callbacks 9000000");
  const called = await patient.sendForTask(calls, { returnImmediately: true });
  const withUrl = await until(() => patient.getTask(called.id), ({ artifacts }) => artifacts?.length === 1);
  const { url } = withUrl.artifacts?.[0]?.parts[0]?.data as { url: string };
  for (const [body, type] of [["paid", "text/plain"], [new Uint8Array([255]), "image/png"]] as const) {
    const headers = { "content-type": type, "idempotency-key": type };
    await (await fetch(url, { method: "POST", body: body as string, headers })).text();
  }
  await until(() => patient.getTask(called.id), ({ artifacts }) => artifacts?.length === 3);
  await show("called", patient, calls, called);

  const waits = message("hold 9000");
  await show("waiting", demo, waits, await demo.sendForTask(waits, { returnImmediately: true }));
  return { tasks, pages, key, counted: JSON.stringify(artifacts), webhooks };
}

/** Calls of every kind that leave the tasks as they are, for what goes between the front Worker and the objects. */
async function speak(worker: Worker, tasks: Record<string, Shown>): Promise<void> {
  const demo = new Agent(`${worker.url}/demo`);
  const [finished, input] = [tasks["finished"]?.task.id ?? "", tasks["input"]?.task.id ?? ""];
  const terms = { "a2a-version": "1.0", accept: "application/a2a+json", "after-generation": "1", prefer: "wait=1" };
  await (await fetch(`${demo.endpoint}/tasks/${input}?historyLength=1`, { headers: terms })).text();
  const calls = [
    ["CancelTask", { id: finished, metadata: { why: "to see" } }],
    ["GetTaskPushNotificationConfig", { taskId: finished, id: "none" }],
    ["DeleteTaskPushNotificationConfig", { taskId: finished, id: "none" }],
    ["RedeliverTaskPushNotifications", { taskId: finished, id: "none", fromGeneration: 1 }],
  ] as const;
  for (const [method, params] of calls) {
    const expecting = new Agent(demo.endpoint, { "if-generation-match": "1", "run-timeout-ms": "5000", "a2a-extensions": EXTENSION });
    await expecting.call(method, params).catch(() => undefined);
  }
  // A snapshot, nothing new yet, a message instead of a task, and a refusal.
  const snapshot = await subscribe(demo.endpoint, input);
  await snapshot.next();
  snapshot.leave();
  (await subscribe(demo.endpoint, input, 3)).leave();
  await (await sendStreaming(demo.endpoint, "message")).rest();
  const late = { parts: [{ text: "late" }], taskId: finished, extensions: ["urn:example:x"], referenceTaskIds: [input], metadata: { a: [1] } };
  const configuration = { acceptedOutputModes: ["text/plain"], historyLength: 2 };
  await sendStreaming(demo.endpoint, late, configuration).catch(() => undefined);
}

/** A task whose webhooks have been delivered to, have failed, were refused, got no answer, and want artifacts alone. */
async function playWebhooks(demo: Agent, sink: Sink, show: (sent: Message, task: Task) => Promise<void>): Promise<Answers["webhooks"]> {
  sink.otherwise = ({ path }) => (path === "/failing" ? { status: 500 } : path === "/gone" ? { status: 410 } : path === "/silent" ? "hold" : {});
  const sent = message("ask");
  const authentication = { scheme: "Bearer", credentials: "of-the-receiver" };
  const configuration = { taskPushNotificationConfig: { url: `${sink.url}/delivered`, token: "token-of-the-client", authentication } };
  const { task } = await demo.call<{ task: Task }>("SendMessage", { message: sent, configuration });
  const signed = { signingSecret: `whsec_${Buffer.from("a secret of thirty-two bytes len").toString("base64")}` };
  for (const [path, rest] of [["failing", {}], ["gone", {}], ["silent", signed], ["artifacts", { events: "artifacts" }]] as const) {
    await demo.call("CreateTaskPushNotificationConfig", { taskId: task.id, url: `${sink.url}/${path}`, ...rest });
  }
  await demo.sendForTask(followUp(task, "pink"));
  const { configs } = await demo.call<{ configs: Webhook[] }>("ListTaskPushNotificationConfigs", { taskId: task.id });
  const webhooks: Answers["webhooks"] = [];
  for (const config of configs) {
    const isQuiet = ({ attempts, deliveredGeneration }: Deliveries): boolean =>
      config.url.endsWith("/artifacts") || deliveredGeneration === 5 || attempts.some(({ outcome }) => outcome !== "delivered");
    const read = (): Promise<Deliveries> => demo.call("ListTaskPushNotificationDeliveries", { taskId: task.id, id: config.id });
    webhooks.push({ config, deliveries: await until(read, isQuiet) });
  }
  await demo.call("GetTaskTimeline", { id: task.id, pageSize: 5, order: "desc" });
  // What remains of a deleted task is a form, too.
  await demo.call("DeleteTask", { id: (await demo.sendForTask("ask")).id, force: true });
  await show(sent, task);
  return webhooks;
}

/** The events of a task up to now. */
async function logTo(by: Agent, { id }: Task): Promise<Event[]> {
  const { generation } = await generationOf(by, id);
  const stream = await subscribe(by.endpoint, id, 0);
  const events = [];
  while (events.length < generation) events.push(await stream.next());
  stream.leave();
  return contents(events);
}

/** The generation that a task is at. */
export async function generationOf(by: Agent, id: string): Promise<{ generation: number }> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id } });
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const answer = await fetch(by.endpoint, { method: "POST", headers, body });
  await answer.text();
  return { generation: Number(answer.headers.get("generation")) };
}
