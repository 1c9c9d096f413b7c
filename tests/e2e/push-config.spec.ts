// The webhooks of a task as clients manage them (spec §3.1.7 to §3.1.10), and what the extension adds (docs/webhooks.md).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Role, TaskPushNotificationConfig, type Message, type SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions } from "@a2a-js/sdk/client";
import { PushNotificationNotSupportedError, RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { Agent, message, received, type ErrorDetail } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

const EXTENSION = "urn:a2a-edge:webhooks:v1";
const MANNERS = "https://a2a-edge.example/extensions/manners/v1";
const INLINE = "configuration.taskPushNotificationConfig";

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

type Headers = Record<string, string>;
type Config = Record<string, unknown>;

/** What was answered, read in the way of its binding. */
interface Answer {
  /** The HTTP status, or 200 for a JSON-RPC result and the code for a JSON-RPC error. */
  status: number;
  result: unknown;
  extensions: string | null;
  reason: string | undefined;
  fields: string[];
}

/** The operations on webhooks in the way of a binding; `agent` is its path. */
interface Binding {
  /** The statuses of refusals. */
  invalid: number;
  notFound: number;
  notSupported: number;
  /** What a deletion gives. */
  deleted: unknown;
  create(agent: string, taskId: string, config: Config, headers?: Headers): Promise<Answer>;
  get(agent: string, taskId: string, id: string, headers?: Headers): Promise<Answer>;
  list(agent: string, taskId: string, headers?: Headers): Promise<Answer>;
  remove(agent: string, taskId: string, id: string): Promise<Answer>;
  deliveries(agent: string, taskId: string, id: string): Promise<Answer>;
  redeliver(agent: string, taskId: string, id: string, fromGeneration?: unknown): Promise<Answer>;
  send(agent: string, params: object, headers?: Headers): Promise<Answer>;
}

const escaped = encodeURIComponent;
const configs = (taskId: string) => `/tasks/${escaped(taskId)}/pushNotificationConfigs`;

const bindings: Record<string, Binding> = {
  "JSON-RPC": {
    invalid: -32602,
    notFound: -32001,
    notSupported: -32003,
    deleted: null,
    create: (agent, taskId, config, headers) => rpc(agent, "CreateTaskPushNotificationConfig", { taskId, ...config }, headers),
    get: (agent, taskId, id, headers) => rpc(agent, "GetTaskPushNotificationConfig", { taskId, id }, headers),
    list: (agent, taskId, headers) => rpc(agent, "ListTaskPushNotificationConfigs", { taskId }, headers),
    remove: (agent, taskId, id) => rpc(agent, "DeleteTaskPushNotificationConfig", { taskId, id }),
    deliveries: (agent, taskId, id) => rpc(agent, "ListTaskPushNotificationDeliveries", { taskId, id }),
    redeliver: (agent, taskId, id, fromGeneration) => rpc(agent, "RedeliverTaskPushNotifications", { taskId, id, fromGeneration }),
    send: (agent, params, headers) => rpc(agent, "SendMessage", params, headers),
  },
  "HTTP+JSON": {
    invalid: 400,
    notFound: 404,
    notSupported: 400,
    deleted: {},
    create: (agent, taskId, config, headers) => rest(agent, "POST", configs(taskId), config, headers),
    get: (agent, taskId, id, headers) => rest(agent, "GET", `${configs(taskId)}/${escaped(id)}`, undefined, headers),
    list: (agent, taskId, headers) => rest(agent, "GET", configs(taskId), undefined, headers),
    remove: (agent, taskId, id) => rest(agent, "DELETE", `${configs(taskId)}/${escaped(id)}`),
    deliveries: (agent, taskId, id) => rest(agent, "GET", `${configs(taskId)}/${escaped(id)}/deliveries`),
    redeliver: (agent, taskId, id, fromGeneration) => rest(agent, "POST", `${configs(taskId)}/${escaped(id)}:redeliver`, { fromGeneration }),
    send: (agent, params, headers) => rest(agent, "POST", "/message:send", params, headers),
  },
};

async function rpc(agent: string, method: string, params: object, headers?: Headers): Promise<Answer> {
  const response = await request(agent, "POST", { jsonrpc: "2.0", id: 1, method, params }, headers);
  const { result, error } = (await response.json()) as { result?: unknown; error?: { code: number; data: ErrorDetail[] } };
  return read(response, error?.code ?? response.status, result, error?.data);
}

async function rest(agent: string, verb: string, path: string, body?: object, headers?: Headers): Promise<Answer> {
  const response = await request(agent + path, verb, body, headers);
  const result = (await response.json()) as { error?: { details: ErrorDetail[] } };
  return read(response, response.status, result, result.error?.details);
}

function request(path: string, method: string, body?: object, headers?: Headers): Promise<Response> {
  const own = { "content-type": "application/json", "a2a-version": "1.0" };
  return fetch(worker.url + path, { method, headers: { ...own, ...headers }, body: body === undefined ? null : JSON.stringify(body) });
}

function read(response: Response, status: number, result: unknown, details: ErrorDetail[] = []): Answer {
  return {
    status,
    result: details.length === 0 ? result : undefined,
    extensions: response.headers.get("a2a-extensions"),
    reason: details.find((detail) => detail.reason !== undefined)?.reason,
    fields: details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field),
  };
}

/** A task that waits for an answer, so that nothing happens to it. */
async function asking(): Promise<string> {
  return (await new Agent(`${worker.url}/demo`).sendForTask("ask")).id;
}

const hook = () => `https://hooks.example.com/${randomUUID()}`;
const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;

/** Members of a webhook that are refused, and the field that is named. */
const misfits: [what: string, members: Config, field: string][] = [
  ["no URL", { url: undefined }, "url"],
  ["an empty URL", { url: "" }, "url"],
  ["a URL that is a number", { url: 5 }, "url"],
  ["a relative URL", { url: "/hook" }, "url"],
  ["a URL of another scheme", { url: "ftp://hooks.example/a" }, "url"],
  ["a URL of a reserved name", { url: "https://x.test/hook" }, "url"],
  ["a pattern instead of a host", { url: "https://*.com/hook" }, "url"],
  ["a URL that is too long", { url: `https://hooks.example.com/${"a".repeat(2_048)}` }, "url"],
  ["an id with a slash", { id: "a/b" }, "id"],
  ["an id with other letters", { id: "ä" }, "id"],
  ["an id that is too long", { id: "i".repeat(65) }, "id"],
  ["a token with a line break", { token: "a\r\nx: y" }, "token"],
  ["a token with other letters", { token: "✓" }, "token"],
  ["a token that is too long", { token: "t".repeat(4_097) }, "token"],
  ["authentication without scheme", { authentication: { credentials: "x" } }, "authentication.scheme"],
  ["a scheme with a space", { authentication: { scheme: "Bearer x" } }, "authentication.scheme"],
  ["credentials with a line break", { authentication: { scheme: "Bearer", credentials: "a\nb" } }, "authentication.credentials"],
  ["credentials that are too long", { authentication: { scheme: "Bearer", credentials: "c".repeat(4_097) } }, "authentication.credentials"],
  ["an unknown filter", { events: "some" }, "events"],
  ["a secret of another form", { signingSecret: "x".repeat(40) }, "signingSecret"],
  ["a secret that is too short", { signingSecret: secret(23) }, "signingSecret"],
  ["a secret that is too long", { signingSecret: secret(65) }, "signingSecret"],
];

for (const [name, binding] of Object.entries(bindings)) {
  describe(`over ${name}`, () => {
    test("a webhook is created, got, listed and deleted (§3.1.7, §3.1.8, §3.1.9, §3.1.10)", async () => {
      const taskId = await asking();
      const given = { url: hook(), token: "a token", authentication: { scheme: "Bearer", credentials: "abc.def==" } };
      const created = await binding.create("/demo", taskId, given);
      assert.equal(created.status, 200);
      const { id, ...rest } = created.result as { id: string };
      assert.match(id, /^[\w.~:-]{1,64}$/);
      assert.deepEqual(rest, { taskId, ...given });
      // Its secrets are shown this once.
      const shown = { id, taskId, url: given.url, authentication: { scheme: "Bearer" } };
      assert.deepEqual((await binding.get("/demo", taskId, id)).result, shown);

      const other = await binding.create("/demo", taskId, { id: "my:own~hook.1", url: hook() });
      assert.equal((other.result as Config)["id"], "my:own~hook.1");
      const listed = await binding.list("/demo", taskId);
      assert.deepEqual(listed.result, { configs: [shown, other.result], nextPageToken: "" });

      for (let time = 0; time < 2; time++) {
        const deleted = await binding.remove("/demo", taskId, id);
        assert.equal(deleted.status, 200);
        assert.deepEqual(deleted.result, binding.deleted);
      }
      const gone = await binding.get("/demo", taskId, id);
      assert.deepEqual([gone.status, gone.reason], [binding.notFound, "TASK_NOT_FOUND"]);
      assert.deepEqual((await binding.list("/demo", taskId)).result, { configs: [other.result], nextPageToken: "" });
    });

    test("a webhook with the id of another replaces it (§3.1.7)", async () => {
      const taskId = await asking();
      await binding.create("/demo", taskId, { id: "one", url: hook(), token: "t" });
      const second = await binding.create("/demo", taskId, { id: "one", url: hook() });
      assert.deepEqual((await binding.list("/demo", taskId)).result, { configs: [second.result], nextPageToken: "" });
    });

    test("a task that has ended takes webhooks, too (§3.1.7)", async () => {
      const { id: taskId } = await new Agent(`${worker.url}/demo`).sendForTask("hello");
      const created = await binding.create("/demo", taskId, { id: "late", url: hook() });
      assert.equal(created.status, 200);
      assert.deepEqual((await binding.get("/demo", taskId, "late")).result, created.result);
    });

    test("webhooks of a task that is not there are not found (§3.3.2)", async () => {
      const ofDemo = await asking();
      await binding.create("/demo", ofDemo, { id: "c", url: hook() });
      for (const [agent, taskId] of [["/demo", "unknown"], ["/demo", "0".repeat(64)], ["/assistant", ofDemo]] as const) {
        for (const answer of [
          await binding.create(agent, taskId, { url: hook() }),
          await binding.get(agent, taskId, "c"),
          await binding.list(agent, taskId),
          await binding.remove(agent, taskId, "c"),
          await binding.deliveries(agent, taskId, "c"),
          await binding.redeliver(agent, taskId, "c", 1),
        ]) {
          assert.deepEqual([answer.status, answer.reason], [binding.notFound, "TASK_NOT_FOUND"]);
        }
      }
      assert.equal((await binding.get("/demo", ofDemo, "c")).status, 200);
    });

    for (const [what, members, field] of misfits) {
      test(`a webhook with ${what} is refused for ${field} (§3.1.7)`, async () => {
        // Before the task is looked for.
        const created = await binding.create("/demo", "unknown", { url: hook(), ...members });
        assert.deepEqual([created.status, created.fields], [binding.invalid, [field]]);

        const said = message("hello");
        const params = { message: said, configuration: { taskPushNotificationConfig: { url: hook(), ...members } } };
        const sent = await binding.send("/demo", params);
        assert.deepEqual([sent.status, sent.fields], [binding.invalid, [`${INLINE}.${field}`]]);
        const { messages } = await received(worker.url);
        assert.ok(!messages.some((given) => given.message.messageId === said.messageId));
      });
    }

    test("an agent without webhooks refuses them before it looks at anything else (§3.3.4)", async () => {
      const answers = [
        await binding.create("/picky", "unknown", {}),
        await binding.get("/picky", "unknown", "c"),
        await binding.list("/picky", "unknown"),
        await binding.remove("/picky", "unknown", "c"),
        await binding.deliveries("/picky", "unknown", "c"),
        await binding.redeliver("/picky", "unknown", "c"),
      ];
      const said = message("hello");
      for (const member of ["taskPushNotificationConfig", "pushNotificationConfig"]) {
        const params = { message: said, configuration: { [member]: { url: hook() } } };
        answers.push(await binding.send("/picky", params, { "a2a-extensions": MANNERS }));
      }
      for (const { status, reason } of answers) {
        assert.deepEqual([status, reason], [binding.notSupported, "PUSH_NOTIFICATION_NOT_SUPPORTED"]);
      }
      const { messages } = await received(worker.url);
      assert.ok(!messages.some((given) => given.message.messageId === said.messageId));
    });

    test("a send that brings a webhook is answered as any other (§3.1.7)", async () => {
      const configuration = { taskPushNotificationConfig: { url: hook() } };
      const sent = await binding.send("/demo", { message: message("ask"), configuration });
      assert.equal(sent.status, 200);
    });

    test("a send brings a webhook that its task then has (§3.1.7)", async () => {
      for (const member of ["taskPushNotificationConfig", "pushNotificationConfig"]) {
        const given = { id: "inline", url: hook(), token: "t" };
        const sent = await binding.send("/demo", { message: message("ask"), configuration: { [member]: given } });
        const { id: taskId } = (sent.result as { task: { id: string } }).task;
        const { token: _, ...shown } = given;
        assert.deepEqual((await binding.list("/demo", taskId)).result, { configs: [{ ...shown, taskId }], nextPageToken: "" });

        const more = { id: "more", url: hook() };
        const params = { message: message({ taskId, parts: [{ text: "purple" }] }), configuration: { [member]: more } };
        assert.equal((await binding.send("/demo", params)).status, 200);
        assert.deepEqual((await binding.get("/demo", taskId, "more")).result, { ...more, taskId });
      }
    });

    test("what the extension adds is shown to clients that name it (§4.6)", async () => {
      const taskId = await asking();
      const plain = { id: "filtered", url: hook() };
      const full = { ...plain, events: "status", signingSecret: secret(32) };
      const named = { "a2a-extensions": EXTENSION };
      const created = await binding.create("/demo", taskId, full);
      assert.deepEqual([created.result, created.extensions], [{ ...plain, taskId }, null]);
      assert.deepEqual((await binding.list("/demo", taskId)).result, { configs: [{ ...plain, taskId }], nextPageToken: "" });
      const { signingSecret: _, ...open } = full;
      const known = { ...open, taskId, hasToken: false, hasCredentials: false, hasSigningSecret: true };
      for (const answer of [await binding.get("/demo", taskId, "filtered", named), await binding.create("/demo", taskId, full, named)]) {
        assert.deepEqual([answer.result, answer.extensions], [known, EXTENSION]);
      }
      const listed = await binding.list("/demo", taskId, named);
      assert.deepEqual(listed.result, { configs: [known], nextPageToken: "" });
    });

    test("secrets are shown by the answer that creates a webhook, and by no other (§4.3.2)", async () => {
      const taskId = await asking();
      const named = { "a2a-extensions": EXTENSION };
      const hush = { token: "hush-token", authentication: { scheme: "Bearer", credentials: "hush-credentials" }, signingSecret: secret(40) };
      const config = { id: "c", url: hook(), ...hush };
      const created = await binding.create("/demo", taskId, config, named);
      assert.deepEqual(created.result, { ...config, taskId, hasToken: true, hasCredentials: true, hasSigningSecret: true });
      const madeUp = await binding.create("/demo", taskId, { id: "d", url: hook() }, named);
      assert.match((madeUp.result as Config)["signingSecret"] as string, /^whsec_/);

      const inline = { message: message("ask"), configuration: { taskPushNotificationConfig: { ...config, id: "e" } } };
      for (const headers of [{}, named]) {
        const { authentication, signingSecret: __, ...rest } = config;
        assert.ok(authentication.credentials);
        for (const answer of [
          await binding.get("/demo", taskId, "c", headers),
          await binding.list("/demo", taskId, headers),
          await binding.redeliver("/demo", taskId, "c", 1),
          await binding.deliveries("/demo", taskId, "c"),
          await binding.create("/demo", taskId, config, headers),
          await binding.create("/demo", taskId, rest, headers),
          await binding.send("/demo", inline, headers),
        ]) {
          assert.equal(answer.status, 200);
          const text = JSON.stringify(answer.result);
          assert.ok(!/hush|whsec_/.test(text), text);
        }
      }
      // What is replaced without a signing secret keeps it; a token is not taken along to another URL.
      const replaced = await binding.get("/demo", taskId, "c", named);
      assert.equal((replaced.result as Config)["hasSigningSecret"], true);
      const bare = await binding.create("/demo", taskId, { id: "c", url: hook() }, named);
      const { hasToken, hasCredentials, hasSigningSecret } = bare.result as Config;
      assert.deepEqual([hasToken, hasCredentials, hasSigningSecret], [false, false, true]);
    });

    test("deliveries are told, and sent again from a generation that the task has", async () => {
      const { id: taskId } = await new Agent(`${worker.url}/demo`).sendForTask("ask");
      const id = "with:colon";
      await binding.create("/demo", taskId, { id, url: hook() });
      const told = await binding.deliveries("/demo", taskId, id);
      assert.equal(told.status, 200);
      assert.deepEqual([(told.result as Config)["taskId"], (told.result as Config)["id"]], [taskId, id]);
      const again = await binding.redeliver("/demo", taskId, id, 1);
      assert.deepEqual([again.status, (again.result as Config)["id"]], [200, id]);

      for (const from of [undefined, null, 0, -1, 1.5, "x", 1_000_000, 2 ** 63, "9223372036854775808", "18446744073709551615", "18446744073709551616", 1e300]) {
        const refused = await binding.redeliver("/demo", taskId, id, from);
        assert.deepEqual([refused.status, refused.fields], [binding.invalid, ["fromGeneration"]], String(from));
      }
      for (const answer of [await binding.deliveries("/demo", taskId, "unknown"), await binding.redeliver("/demo", taskId, "unknown", 1)]) {
        assert.deepEqual([answer.status, answer.reason], [binding.notFound, "TASK_NOT_FOUND"]);
      }
    });
  });
}

test("what a webhook needs is named (§9.5)", async () => {
  for (const [method, params, fields] of [
    ["CreateTaskPushNotificationConfig", { url: hook() }, ["taskId"]],
    ["GetTaskPushNotificationConfig", {}, ["taskId", "id"]],
    ["ListTaskPushNotificationConfigs", {}, ["taskId"]],
    ["DeleteTaskPushNotificationConfig", { taskId: "t" }, ["id"]],
    ["ListTaskPushNotificationDeliveries", { id: "c" }, ["taskId"]],
    ["RedeliverTaskPushNotifications", {}, ["taskId", "id", "fromGeneration"]],
  ] as const) {
    const refused = await rpc("/demo", method, params);
    assert.deepEqual([refused.status, refused.fields], [-32602, fields], method);
  }
});

test("a webhook that is created at / belongs to the agent that its tenant names (§3.1.7)", async () => {
  const taskId = await asking();
  const config = { id: "c", url: hook() };
  const created = await rpc("/", "CreateTaskPushNotificationConfig", { tenant: "demo", taskId, ...config });
  assert.deepEqual(created.result, { ...config, taskId });
  assert.deepEqual((await rest("/demo", "GET", `${configs(taskId)}/c`)).result, created.result);
  assert.equal((await rpc("/", "GetTaskPushNotificationConfig", { taskId, id: "c" })).reason, "TASK_NOT_FOUND");
});

test("agents with webhooks declare the extension, and require it of nobody (§4.4.4)", async () => {
  for (const [path, has] of [["", true], ["/demo", true], ["/faults", true], ["/picky", false]] as const) {
    const card = await (await fetch(`${worker.url}${path}/.well-known/agent-card.json`)).json();
    const { capabilities } = card as { capabilities: { pushNotifications?: boolean; extensions: { uri: string; required?: boolean }[] } };
    assert.equal(capabilities.pushNotifications ?? false, has, path);
    const found = capabilities.extensions.filter(({ uri }) => uri === EXTENSION);
    assert.equal(found.length, has ? 1 : 0, path);
    assert.ok(!found.some(({ required }) => required), path);
  }
});

test("webhooks outlive a crash (§3.1.7)", async () => {
  const taskId = await asking();
  const kept = { id: "kept", url: hook(), token: "t", authentication: { scheme: "Bearer", credentials: "c" }, events: "artifacts", signingSecret: secret(24) };
  const { "JSON-RPC": binding } = bindings;
  assert.ok(binding);
  await binding.create("/demo", taskId, kept);
  await binding.create("/demo", taskId, { id: "gone", url: hook() });
  await binding.remove("/demo", taskId, "gone");
  await worker.kill9();
  await worker.restart();
  const listed = await binding.list("/demo", taskId, { "a2a-extensions": EXTENSION });
  const { token: _, signingSecret: __, ...open } = kept;
  const shown = { ...open, taskId, authentication: { scheme: "Bearer" }, hasToken: true, hasCredentials: true, hasSigningSecret: true };
  assert.deepEqual(listed.result, { configs: [shown], nextPageToken: "" });
});

for (const transport of ["JSONRPC", "HTTP+JSON"]) {
  test(`the official client manages webhooks over ${transport} (§3.1.7, §3.1.8, §3.1.9, §3.1.10)`, async () => {
    const connect = (agent: string) => {
      const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports: [transport] });
      return new ClientFactory(options).createFromUrl(`${worker.url}/${agent}/`, ".well-known/agent-card.json");
    };
    const client = await connect("demo");
    const taskId = await asking();
    const given: TaskPushNotificationConfig = {
      tenant: "", id: "", taskId, url: hook(), token: "t", authentication: { scheme: "Basic", credentials: "dTpw" },
    };
    const created = await client.createTaskPushNotificationConfig(given);
    assert.notEqual(created.id, "");
    assert.deepEqual(created, { ...given, id: created.id });
    const one = { tenant: "", taskId, id: created.id };
    // The secrets are shown once; what is left out is empty to this client.
    const shown = { ...created, token: "", authentication: { scheme: "Basic", credentials: "" } };
    assert.deepEqual(await client.getTaskPushNotificationConfig(one), shown);
    const listed = await client.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" });
    assert.deepEqual(listed, { configs: [shown], nextPageToken: "" });
    await client.deleteTaskPushNotificationConfig(one);
    await client.deleteTaskPushNotificationConfig(one);
    await assert.rejects(client.getTaskPushNotificationConfig(one), TaskNotFoundError);
    await assert.rejects(client.createTaskPushNotificationConfig({ ...given, url: "nowhere" }), RequestMalformedError);
    await assert.rejects(client.deleteTaskPushNotificationConfig({ ...one, taskId: "unknown" }), TaskNotFoundError);

    const said: Message = {
      messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [],
      parts: [{ content: { $case: "text", value: "ask" }, metadata: undefined, filename: "", mediaType: "" }],
    };
    const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: { ...given, taskId: "" }, returnImmediately: false };
    const send: SendMessageRequest = { tenant: "", message: said, configuration, metadata: undefined };
    assert.ok("status" in (await client.sendMessage(send)));

    // The client asks agents without webhooks for nothing but a deletion.
    const picky = await connect("picky");
    await assert.rejects(picky.deleteTaskPushNotificationConfig(one), PushNotificationNotSupportedError);
  });
}
