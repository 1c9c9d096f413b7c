// `a2a-edge deploy --check URL`: tries a deployment as its callers use it, and says of each part what is wrong. Its tasks are deleted in the end.
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { EXIT, Failure } from "./failure.mjs";
import { pathOf } from "./find.mjs";
import { PATIENCE_MS, Server } from "./server.mjs";
import { schemesOf } from "./slots.mjs";
import { clean, cut, jsonLine } from "./text.mjs";
import { list, number, record, text } from "./values.mjs";
import { counted, durationWord, instant, isFinal, stateCell } from "./words.mjs";

/** What is sent unless --text names something else. */
const TEXT = "This message checks the deployment. Please answer in one word.";
/** Clocks that differ by more make signatures and tokens look old; receivers refuse them from five minutes on. */
const MAX_CLOCK_MS = 30_000;
const EVERY_MS = 250;
const WEBHOOK = "check";

/** The parts, in the order in which they are tried. `ok`, `wrong`, or `untried` where the server or its settings give nothing to try. */
class Trial {
  #print;
  #isJson;
  wrongs = 0;
  /** The exit code of a part that was not tried for want of something of the person who checks. */
  lacking = 0;

  constructor(print, isJson) {
    this.#print = print;
    this.#isJson = isJson;
  }

  async ok(part, said) {
    await this.#tell(part, "ok", said, "good");
  }

  async wrong(part, said) {
    this.wrongs += 1;
    await this.#tell(part, "wrong", said, "bad");
  }

  async untried(part, said) {
    await this.#tell(part, "untried", said, "idle");
  }

  /** Does `work`; a failure is what is wrong with the part, with `advice` after it. Returns what `work` returns; undefined after a failure. */
  async part(part, work, advice = "") {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      await this.wrong(part, `${error.message}${advice === "" ? "" : ` ${advice}`}`);
      return undefined;
    }
  }

  async #tell(part, outcome, said, tone) {
    const safe = clean(said);
    if (this.#isJson) return this.#print.line(jsonLine({ part, outcome, text: safe }));
    return this.#print.line(`${this.#print.toned(outcome.padEnd(8), tone)} ${part.padEnd(8)} ${safe}`);
  }
}

/** Tries the server; returns the exit code. `values` are the options `agent`, `text`, `webhook` and `json`. */
export async function tryServer({ print, values, server }) {
  const trial = new Trial(print, values.json);
  const knowsClock = await tryClock(trial, server);
  const agent = await chosenAgent(server, values.agent);
  if (!values.json) print.note(`Up to two messages are sent to ${agent.slug} at ${server.origin}, which works on them as on any other; their tasks are deleted.`);
  await tryAgents(trial, server);
  await trial.part("card", () => tryCard(trial, server, agent));
  await tryConsole(trial, server);
  if (await tryKeys(trial, server, agent)) await tryMessages(trial, server, agent, { ...values, knowsClock });
  return trial.wrongs > 0 ? EXIT.refused : trial.lacking;
}

/** Compares the clocks by the header `Date`. Returns false where the server does not send it, as one on this machine. */
async function tryClock(trial, server) {
  const begun = Date.now();
  const { headers } = await server.answer({ path: "/console/api/agents" });
  const at = instant(headers.get("date") ?? "");
  if (at === undefined) return false;
  // The header has whole seconds.
  await tellClock(trial, Math.max(begun - (at + 1000), at - Date.now()));
  return true;
}

function tellClock(trial, apartMs) {
  if (apartMs <= MAX_CLOCK_MS) return trial.ok("clock", "The clocks of the server and of this machine agree.");
  return trial.wrong("clock", `The clocks of the server and of this machine are ${durationWord(apartMs)} apart: set that of this machine, else signatures and tokens seem old.`);
}

/** The named agent, else the default agent, else the only one. */
async function chosenAgent(server, name) {
  const agents = await server.agents();
  const found = name === undefined ? agents.find(({ isDefault }) => isDefault === true) ?? (agents.length === 1 ? agents[0] : undefined) : agents.find(({ slug }) => slug === name);
  if (found !== undefined) return found;
  const names = agents.map(({ slug }) => slug).join(", ") || "none";
  if (name !== undefined) throw new Failure(`${server.origin} has no agent "${name}"; it has ${names}.`, EXIT.notFound);
  throw new Failure(`${server.origin} has no default agent: name one of its agents with --agent: ${names}.`, EXIT.usage);
}

async function tryAgents(trial, server) {
  const agents = await server.agents();
  const broken = agents.filter(({ health }) => record(health).state === "misconfigured");
  for (const { slug, health } of broken) {
    await trial.wrong("agents", `${slug} refuses every message: ${text(record(health).reason) ?? "it is not set up correctly"}. Look for its secrets and its access: npx a2a-edge deploy --dry-run`);
  }
  if (broken.length === 0) await trial.ok("agents", `${counted(agents.length, "agent")}, none of which is set up wrongly.`);
}

async function tryCard(trial, server, { slug }) {
  const card = record(await server.json({ path: `/${slug}/.well-known/agent-card.json` }));
  const urls = list(card.supportedInterfaces).map((one) => text(record(one).url) ?? "");
  if (text(card.name) === undefined || urls.length === 0) return trial.wrong("card", `The card of ${slug} names no interface. Is there a proxy that changes it?`);
  const elsewhere = urls.find((url) => url !== server.origin && !url.startsWith(`${server.origin}/`));
  if (elsewhere !== undefined) {
    return trial.wrong("card", `The card of ${slug} leads clients to ${cut(elsewhere, 200)}, and not to ${server.origin}: set PUBLIC_URL to the address that clients use, or check that address.`);
  }
  return trial.ok("card", `The card of ${slug} leads clients to ${server.origin}.`);
}

async function tryConsole(trial, server) {
  const { status, headers } = await server.answer({ path: "/console/", headers: { accept: "text/html" } });
  if (status === 200) return trial.ok("console", "The console is at /console/, for everybody who can reach the server.");
  if (status === 404) return trial.untried("console", "The server has no console: wrangler.toml has no [assets].");
  if (status >= 300 && status < 400) return trial.untried("console", `/console/ leads to ${cut(headers.get("location") ?? "somewhere else", 200)}, such as a sign-in of Cloudflare Access.`);
  return trial.wrong("console", `/console/ answers with status ${status}. Deploy again, so that its files are uploaded.`);
}

/** Tries no key, a wrong key and the own one. Returns whether the agent may be asked. */
async function tryKeys(trial, server, agent) {
  const { slug } = agent;
  const statusOf = (asking) => asking.status({ agent, path: `/${slug}/tasks`, query: { pageSize: 1, contextId: randomUUID() } });
  if (record(agent.health).state === "misconfigured") {
    await trial.untried("key", `${slug} is not set up correctly, so nothing else of it was tried.`);
    return false;
  }
  if (agent.isOpen === true) {
    await trial.ok("key", `Anybody may call ${slug}, without a key.`);
    return true;
  }
  const none = await trial.part("key", () => statusOf(new Server(server.origin)));
  if (none === undefined) return false;
  if (none < 300) await trial.wrong("key", `${slug} answers without credentials, though its card asks for some. Deploy again.`);
  const [scheme] = schemesOf(agent);
  if (scheme !== undefined) {
    const secret = `${scheme.slot.scheme === "Basic" ? "check:" : ""}no-key-${randomBytes(16).toString("hex")}`;
    const wrong = await trial.part("key", () => statusOf(new Server(server.origin, { keys: [{ agent: slug, slot: scheme.slot, secret }] })));
    if (wrong < 300) await trial.wrong("key", `${slug} takes a key that nobody has. Look at [access.schemes.${scheme.name}] in its file.`);
    else if ([401, 403].includes(wrong)) await trial.ok("key", `${slug} refuses a wrong key.`);
    else if (wrong !== undefined) await trial.untried("key", `${slug} answers a wrong key with status ${wrong}: it takes none for now. Try again later.`);
  }
  const own = await trial.part("key", () => statusOf(server));
  if (own === undefined) return false;
  if (own === 200) {
    await trial.ok("key", `${slug} takes your credentials.`);
    return true;
  }
  const login = `npx a2a-edge login --url ${server.origin}`;
  if (own !== 401) await trial.wrong("key", `${slug} answers you with status ${own}: it takes no key for now, or yours may not ask. Try again later, or sign in with another key: ${login}`);
  else if (server.hasKey(slug)) await trial.wrong("key", `${slug} does not take your key, which is wrong or has expired. Sign in with: ${login}`);
  else {
    trial.lacking = EXIT.notSignedIn;
    await trial.untried("key", `There is no key for ${slug} here, so nothing else of it was tried. Sign in with: ${login}`);
  }
  return false;
}

/** Sends to the agent, and tries what follows from a task: lists, webhooks, streams. */
async function tryMessages(trial, server, agent, values) {
  const begun = [];
  try {
    const task = await trial.part("send", () => trySend(trial, server, agent, values), ADVICE.send);
    if (task?.id !== undefined) {
      begun.push(task.id);
      await trial.part("list", () => tryList(trial, server, agent, task), ADVICE.list);
      await tryWebhook(trial, server, agent, task, values);
    }
    await trial.part("stream", () => tryStream(trial, server, agent, values, begun), ADVICE.send);
  } finally {
    await cleanUp(trial, server, agent, begun);
  }
}

const ADVICE = {
  send: "npx a2a-edge wrangler tail shows what the Worker logs.",
  list: "The index may lack tables: npx a2a-edge wrangler d1 migrations apply DB --remote",
};

const messageOf = ({ text: given = TEXT }) => ({ messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: given }] });

/** Sends a message, and waits for its task to end or to ask. Returns the task; undefined if the agent answers with a message alone. */
async function trySend(trial, server, agent, values) {
  const body = { message: messageOf(values), configuration: { returnImmediately: true } };
  const sentAt = Date.now();
  const answer = record(await server.json({ agent, path: `/${agent.slug}/message:send`, body }));
  let task = record(answer.task);
  if (answer.message !== undefined) {
    await trial.ok("send", `${agent.slug} answers with a message.`);
    for (const part of ["list", "queue", "webhook"]) await trial.untried(part, `${agent.slug} made no task. Name another agent with --agent, or another text with --text.`);
    return undefined;
  }
  const id = text(task.id);
  if (id === undefined) throw new Failure(`${agent.slug} answered with neither a task nor a message.`);
  const since = Date.now();
  const at = instant(record(task.status).timestamp);
  if (!values.knowsClock && at !== undefined) await tellClock(trial, Math.max(sentAt - at, at - since));
  while (!isSettled(task) && Date.now() - since < PATIENCE_MS) {
    await pause(EVERY_MS);
    task = record(await server.json({ agent, path: pathOf({ agent, id }), query: { historyLength: 0 } }));
  }
  await tellEnd(trial, "send", agent, task, Date.now() - since);
  return { id, contextId: text(task.contextId) };
}

const stateOf = (task) => text(record(task.status).state) ?? "";

/** True for a task that has ended or asks for something. */
const isSettled = (task) => isFinal(stateOf(task)) || /_REQUIRED$/.test(stateOf(task));

/** Says how a task has come out. */
async function tellEnd(trial, part, { slug }, task, ms, how = "") {
  const state = stateOf(task);
  const word = stateCell(state).text;
  const said = cut(clean(list(record(record(task.status).message).parts).map((one) => text(record(one).text) ?? "").join(" ")), 200).replace(/\.$/, "");
  if (/_(?:FAILED|REJECTED)$/.test(state)) {
    return trial.wrong(part, `The task with ${slug} ended as ${word}${said === "" ? "" : `: ${said}`}. ${ADVICE.send} Another text: --text`);
  }
  if (!isSettled(task)) return trial.ok(part, `${slug} works on the message${how}; after ${durationWord(ms)} it has not ended, and is not waited for.`);
  return trial.ok(part, `${slug} has answered${how} (${word}).`);
}

async function tryList(trial, server, agent, { id, contextId }) {
  const since = Date.now();
  for (;;) {
    const { tasks } = record(await server.json({ agent, path: `/${agent.slug}/tasks`, query: { contextId, pageSize: 10 } }));
    if (list(tasks).some((task) => record(task).id === id)) return trial.ok("list", "The index (D1 or objects, as INDEX says) lists the task.");
    if (Date.now() - since >= PATIENCE_MS) throw new Failure(`The index does not list the task after ${durationWord(PATIENCE_MS)}.`);
    await pause(EVERY_MS);
  }
}

/** Registers a webhook for the task, has all its events sent there, and reads how that went in the deliveries of the webhook. */
async function tryWebhook(trial, server, agent, { id }, { webhook }) {
  const parts = ["queue", "webhook"];
  if (record(agent.capabilities).pushNotifications !== true) {
    for (const part of parts) await trial.untried(part, `${agent.slug} sends no notifications.`);
    return;
  }
  const open = agent.isOpen === true ? agent : (await server.agents()).find(({ isOpen }) => isOpen === true);
  // The endpoint of an open agent answers 200 to whatever is posted, that of another one 401.
  const own = { url: `${server.origin}/${(open ?? agent).slug}`, expects: open === undefined ? 401 : 200 };
  const url = webhook ?? own.url;
  const path = pathOf({ agent, id }, "/pushNotificationConfigs");
  try {
    await server.json({ agent, path, body: { id: WEBHOOK, url } });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    for (const part of parts) await trial.untried(part, `The webhook was not taken. ${error.message} Another receiver: --webhook URL`);
    return;
  }
  const since = Date.now();
  const attempt = await trial.part("queue", async () => {
    await server.json({ agent, path: `${path}/${WEBHOOK}:redeliver`, body: { fromGeneration: 1 } });
    for (;;) {
      const { attempts } = record(await server.json({ agent, path: `${path}/${WEBHOOK}/deliveries` }));
      if (list(attempts).length > 0) return record(list(attempts)[0]);
      if (Date.now() - since >= PATIENCE_MS) throw new Failure(`No notification was sent within ${durationWord(PATIENCE_MS)}: the queue of webhooks has no consumer, or does not reach it. Deploy again, and look at: npx a2a-edge wrangler queues list`);
      await pause(EVERY_MS);
    }
  });
  if (attempt === undefined) return;
  await trial.ok("queue", "A notification went through the queue, and was sent.");
  await tellAttempt(trial, attempt, { url, isOwn: webhook === undefined, expects: own.expects });
}

async function tellAttempt(trial, attempt, { url, isOwn, expects }) {
  const status = number(attempt.status);
  if (attempt.outcome === "delivered" || (isOwn && status === expects)) return trial.ok("webhook", `The notification has reached ${url}.`);
  const what = status === undefined ? `did not answer: ${text(attempt.error) ?? "no reason is told"}` : `answered with status ${status}`;
  // A request of a Worker to an address of its own zone may go past the Worker.
  if (isOwn) return trial.untried("webhook", `The notification was sent to ${url}, the server itself, which ${what}. Where Cloudflare does not lead a Worker to itself, name a receiver: --webhook URL`);
  return trial.wrong("webhook", `The notification was sent to ${url}, which ${what}. A receiver answers 2xx at once; look at its log.`);
}

async function tryStream(trial, server, agent, values, begun) {
  if (record(agent.capabilities).streaming !== true) return trial.untried("stream", `${agent.slug} does not stream.`);
  const since = Date.now();
  let [count, task] = [0, {}];
  for await (const event of server.events({ agent, path: `/${agent.slug}/message:stream`, body: { message: messageOf(values) } })) {
    const { task: whole, statusUpdate, message } = record(event);
    count += 1;
    if (message !== undefined) return trial.ok("stream", `${agent.slug} has answered by a stream, with a message.`);
    if (whole !== undefined) {
      task = record(whole);
      begun.push(text(task.id) ?? "");
    }
    if (statusUpdate !== undefined) task = { ...task, status: record(statusUpdate).status };
    if (isSettled(task) || Date.now() - since >= PATIENCE_MS) break;
  }
  if (count === 0) throw new Failure(`The stream of ${agent.slug} ended without an event. Is there a proxy that does not pass streams on?`);
  return tellEnd(trial, "stream", agent, task, Date.now() - since, ` by a stream of ${counted(count, "event")}`);
}

/** Deletes the tasks. One that stays is told. */
async function cleanUp(trial, server, agent, ids) {
  for (const id of ids.filter((id) => id !== "")) {
    await trial.part("cleanup", async () => void (await server.json({ agent, path: pathOf({ agent, id }), method: "DELETE", query: { force: true } })), `The task ${id} of ${agent.slug} stays.`);
  }
}
