// The agent card: its paths, its caching, and the truth of its contents (spec §8).
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { Agent } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

interface Card {
  name: string;
  supportedInterfaces: { url: string; protocolBinding: string; protocolVersion: string }[];
  capabilities: Record<string, unknown>;
  skills: { id: string; name: string; description: string; tags: string[] }[];
}

const CARD = "/.well-known/agent-card.json";

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

async function cardAt(url: string): Promise<Card> {
  const response = await fetch(url);
  return (await response.json()) as Card;
}

for (const [path, name] of [
  ["/.well-known/agent-card.json", "Assistant"],
  ["/.well-known/agent.json", "Assistant"],
  ["/assistant/.well-known/agent-card.json", "Assistant"],
  ["/demo/.well-known/agent-card.json", "Demo"],
  ["/demo/.well-known/agent.json", "Demo"],
] as const) {
  test(`${path} is the card of ${name} (§8.2)`, async () => {
    const response = await fetch(worker.url + path);
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
    assert.match(response.headers.get("cache-control") ?? "", /\bmax-age=\d+/);
    assert.match(response.headers.get("etag") ?? "", /^"[^"]+"$/);
    assert.equal(((await response.json()) as Card).name, name);
  });
}

for (const path of ["/nobody/.well-known/agent-card.json", "/.well-known/other.json", "/demo/.well-known/"]) {
  test(`there is no card at ${path} (§8.2)`, async () => {
    const response = await fetch(worker.url + path);
    assert.equal(response.status, 404);
    const { error } = (await response.json()) as { error: { code: number; status: string; message: string } };
    assert.equal(error.code, 404);
    assert.equal(error.status, "NOT_FOUND");
    assert.match(error.message, /agent-card\.json/, "says where cards are");
  });
}

describe("caching", () => {
  test("a card keeps its ETag, and no other card has it (§8.6)", async () => {
    const etag = async (path: string) => (await fetch(worker.url + path)).headers.get("etag");
    assert.equal(await etag(CARD), await etag(CARD));
    assert.notEqual(await etag(CARD), await etag(`/demo${CARD}`));
  });

  test("a client that has the card already gets 304 without a body (§8.6)", async () => {
    const etag = (await fetch(worker.url + CARD)).headers.get("etag") ?? "";
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag}`, "*"]) {
      const response = await fetch(worker.url + CARD, { headers: { "if-none-match": known } });
      assert.equal(response.status, 304, known);
      assert.equal(await response.text(), "", known);
      assert.equal(response.headers.get("etag"), etag, known);
      assert.match(response.headers.get("cache-control") ?? "", /\bmax-age=\d+/, known);
    }
  });

  test("a client that has another card gets this one (§8.6)", async () => {
    for (const known of ['"other"', 'W/"other"', '"a", "b"', ""]) {
      const response = await fetch(worker.url + CARD, { headers: { "if-none-match": known } });
      assert.equal(response.status, 200, known);
      assert.equal(((await response.json()) as Card).name, "Assistant", known);
    }
  });
});

describe("methods", () => {
  test("HEAD gives the headers of GET and no body (§8.2)", async () => {
    const get = await fetch(worker.url + CARD);
    const head = await fetch(worker.url + CARD, { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
    for (const name of ["content-type", "etag", "cache-control"]) {
      assert.equal(head.headers.get(name), get.headers.get(name), name);
    }
  });

  for (const [path, methods] of [
    [CARD, ["GET", "HEAD", "OPTIONS"]],
    [`/demo${CARD}`, ["GET", "HEAD", "OPTIONS"]],
    ["/", ["POST", "OPTIONS"]],
    ["/demo", ["POST", "OPTIONS"]],
  ] as const) {
    test(`OPTIONS ${path} tells what pages of any origin may do (§8.2)`, async () => {
      const headers = { origin: "https://page.example", "access-control-request-method": "POST" };
      const response = await fetch(worker.url + path, { method: "OPTIONS", headers });
      assert.equal(response.status, 204);
      assert.deepEqual((response.headers.get("allow") ?? "").split(", "), methods);
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
      assert.match(response.headers.get("access-control-allow-methods") ?? "", /\bPOST\b/);
      const allowed = (response.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(", ");
      for (const name of ["a2a-version", "content-type", "authorization"]) assert.ok(allowed.includes(name), name);
    });
  }

  test("POST, PUT and DELETE of a card are refused with what is allowed (§8.2)", async () => {
    for (const method of ["POST", "PUT", "DELETE"]) {
      const response = await fetch(worker.url + CARD, { method });
      assert.equal(response.status, 405, method);
      assert.equal(response.headers.get("allow"), "GET, HEAD, OPTIONS", method);
      assert.equal(((await response.json()) as { error: { code: number } }).error.code, 405, method);
    }
  });

  test("every answer lets pages of any origin read it (§8.2)", async () => {
    const json = { "content-type": "application/json", "a2a-version": "1.0" };
    for (const [path, init] of [
      [CARD, {}],
      [CARD, { headers: { "if-none-match": "*" } }],
      [CARD, { method: "DELETE" }],
      ["/nowhere/at/all", {}],
      ["/", { method: "GET" }],
      ["/", { method: "POST", headers: json, body: "not json" }],
      ["/", { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" }],
      ["/", { method: "POST", headers: json, body: '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}' }],
    ] as [string, RequestInit][]) {
      const response = await fetch(worker.url + path, init);
      assert.equal(response.headers.get("access-control-allow-origin"), "*", `${path} ${JSON.stringify(init)}`);
    }
  });
});

describe("content", () => {
  test("URLs begin with the origin of the request (§8.3)", async () => {
    const get = request(worker.url + `/demo${CARD}`, { headers: { host: "agents.example:8080" } }).end();
    const [response] = await once(get, "response");
    const card = JSON.parse(await text(response)) as Card;
    assert.ok(card.supportedInterfaces.length > 0);
    for (const { url } of card.supportedInterfaces) assert.equal(url, "http://agents.example:8080/demo");
  });

  test("URLs begin with PUBLIC_URL where it is set (§8.3)", async (t) => {
    const published = await startWorker({ vars: { PUBLIC_URL: "https://agents.example" } });
    t.after(() => published.stop());
    for (const [path, expected] of [[CARD, /^https:\/\/agents\.example\/?$/], [`/demo${CARD}`, /^https:\/\/agents\.example\/demo$/]] as const) {
      const { supportedInterfaces } = await cardAt(published.url + path);
      assert.ok(supportedInterfaces.length > 0);
      for (const { url } of supportedInterfaces) assert.match(url, expected);
    }
  });

  for (const path of [CARD, `/demo${CARD}`]) {
    test(`the interface that ${path} prefers answers 1.0 (§8.3)`, async () => {
      const [first] = (await cardAt(worker.url + path)).supportedInterfaces;
      assert.ok(first);
      assert.equal(first.protocolBinding, "JSONRPC");
      assert.equal(first.protocolVersion, "1.0");
      const task = await new Agent(first.url).sendForTask("hello");
      assert.equal(task.status.state, "TASK_STATE_COMPLETED");
    });

    test(`${path} holds what version 1.0 knows and nothing else, for a client that asks for it (§4.4.1)`, async () => {
      const card = (await (await fetch(worker.url + path, { headers: { "a2a-version": "1.0" } })).json()) as Card;
      assert.deepEqual(unknownMembers(card, CARD_MODEL), []);
      for (const name of REQUIRED) assert.ok(name in card, name);
    });

    test(`every skill in ${path} can be read by people (§4.4.5)`, async () => {
      const { skills } = await cardAt(worker.url + path);
      assert.ok(skills.length > 0);
      assert.equal(new Set(skills.map(({ id }) => id)).size, skills.length, "ids are unique");
      for (const skill of skills) {
        assert.notEqual(skill.name, skill.id);
        assert.notEqual(skill.description, "");
        assert.ok(skill.tags.length > 0, skill.id);
      }
    });
  }

  test("each tool of the default agent is a skill (§4.4.5)", async () => {
    const { skills } = await cardAt(worker.url + CARD);
    const tools = ["echo", "add_numbers", "current_time", "get_greeting", "is_admin"];
    assert.deepEqual(skills.map(({ id }) => id), tools);
  });
});

const PUSH_METHODS = [
  "CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig",
  "ListTaskPushNotificationDeliveries", "RedeliverTaskPushNotifications", "TestTaskPushNotificationConfig", "VerifyTaskPushNotificationSignature",
];

describe("capabilities", () => {
  for (const [capability, method, code, reason] of [
    ["streaming", "SendStreamingMessage", -32004, "UNSUPPORTED_OPERATION"],
    ["streaming", "SubscribeToTask", -32004, "UNSUPPORTED_OPERATION"],
    ["extendedAgentCard", "GetExtendedAgentCard", -32004, "UNSUPPORTED_OPERATION"],
    ...PUSH_METHODS.map((method) => ["pushNotifications", method, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"] as const),
  ] as const) {
    test(`${method} is refused while the card does not declare ${capability} (§3.3.4)`, async (t) => {
      const agent = capability === "pushNotifications" ? "picky" : "demo";
      const { capabilities } = await cardAt(`${worker.url}/${agent}${CARD}`);
      if (capabilities[capability] === true) return t.skip("the card declares it");
      for (const params of [{}, undefined, { id: "unknown", taskId: "unknown" }]) {
        await assert.rejects(new Agent(`${worker.url}/${agent}`).call(method, params), { code, reason });
      }
    });
  }
});

const REQUIRED = [
  "name", "description", "supportedInterfaces", "version", "capabilities", "defaultInputModes", "defaultOutputModes", "skills",
];

/** The members of the 1.0 card: `null` for members without an object of ours. */
const CARD_MODEL: Model = {
  name: null, description: null, version: null, documentationUrl: null, iconUrl: null,
  defaultInputModes: null, defaultOutputModes: null, securitySchemes: null, securityRequirements: null,
  supportedInterfaces: { url: null, protocolBinding: null, tenant: null, protocolVersion: null },
  provider: { url: null, organization: null },
  capabilities: {
    streaming: null, pushNotifications: null, extendedAgentCard: null,
    extensions: { uri: null, description: null, required: null, params: null },
  },
  skills: {
    id: null, name: null, description: null, tags: null, examples: null, inputModes: null, outputModes: null,
    securityRequirements: null,
  },
  signatures: { protected: null, signature: null, header: null },
};

interface Model {
  [member: string]: Model | null;
}

function unknownMembers(value: unknown, model: Model | null): string[] {
  if (model === null || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((element) => unknownMembers(element, model));
  return Object.entries(value).flatMap(([name, member]) => {
    const known = model[name];
    return known === undefined ? [name] : unknownMembers(member, known).map((inner) => `${name}.${inner}`);
  });
}
