// The management of a task's webhooks (spec §3.1.7 to §3.1.10).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { Role, TaskPushNotificationConfig, type Message, type SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions } from "@a2a-js/sdk/client";
import { PushNotificationNotSupportedError, RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { rest } from "./answers.ts";
import { Agent, message } from "./client.ts";
import { asking, bindings, call, configs, hook, secret, withWorker, worker, type Config } from "./push-config.ts";

const MANNERS = "https://a2a-edge.example/extensions/manners/v1";
const INLINE = "configuration.taskPushNotificationConfig";

withWorker();

/** Invalid members of a webhook, and the reported field. */
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
      // The secrets of the webhook are shown only in this answer.
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
        // The members are checked before the task is looked up.
        const created = await binding.create("/demo", "unknown", { url: hook(), ...members });
        assert.deepEqual([created.status, created.fields], [binding.invalid, [field]]);

        const said = message("hello");
        const params = { message: said, configuration: { taskPushNotificationConfig: { url: hook(), ...members } } };
        const sent = await binding.send("/demo", params);
        assert.deepEqual([sent.status, sent.fields], [binding.invalid, [`${INLINE}.${field}`]]);
        assert.ok(!(await worker.given()).includes(said.messageId));
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
      assert.ok(!(await worker.given()).includes(said.messageId));
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
    ["TestTaskPushNotificationConfig", { taskId: "t" }, ["id"]],
    ["VerifyTaskPushNotificationSignature", { taskId: "t" }, ["id", "headers", "body"]],
    ["VerifyTaskPushNotificationSignature", { taskId: "t", id: "c", headers: { "Webhook-Id": 1 }, body: {} }, ["headers", "body"]],
    ["VerifyTaskPushNotificationSignature", { taskId: "t", id: "c", headers: { "webhook-signature": "v".repeat(4097) }, body: "" }, ["headers"]],
  ] as const) {
    const refused = await call("/demo", method, params);
    assert.deepEqual([refused.status, refused.fields], [-32602, fields], method);
  }
});

test("a webhook that is created at / belongs to the agent that its tenant names (§3.1.7)", async () => {
  const taskId = await asking();
  const config = { id: "c", url: hook() };
  const created = await call("/", "CreateTaskPushNotificationConfig", { tenant: "demo", taskId, ...config });
  assert.deepEqual(created.result, { ...config, taskId });
  assert.deepEqual((await rest(`${worker.url}/demo${configs(taskId)}/c`, "GET")).result, created.result);
  assert.equal((await call("/", "GetTaskPushNotificationConfig", { taskId, id: "c" })).reason, "TASK_NOT_FOUND");
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
    // The secrets are shown once; for this client, missing members are empty.
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

    // For agents without webhooks, the client sends only deletions.
    const picky = await connect("picky");
    await assert.rejects(picky.deleteTaskPushNotificationConfig(one), PushNotificationNotSupportedError);
  });
}
