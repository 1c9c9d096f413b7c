// The version that a request asks for (spec §3.6).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Role } from "@a2a-js/sdk";
import { LegacyJsonRpcTransport } from "@a2a-js/sdk/compat/v0_3/client";
import { message, type Reply } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

async function send(url: string, method: string, header: string | undefined): Promise<Reply> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (header !== undefined) headers["a2a-version"] = header;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message: message("hello") } });
  const response = await fetch(url, { method: "POST", headers, body });
  assert.equal(response.status, 200);
  return (await response.json()) as Reply;
}

const reasonOf = (reply: Reply) => reply.error?.data?.find(({ reason }) => reason !== undefined)?.reason;

describe("a method of version 1.0", () => {
  for (const [query, header] of [
    ["", "1.0"], ["", " 1.0 "], ["", "1.0.1"], ["", ""], ["", undefined],
    ["?A2A-Version=1.0", undefined], ["?x=y&a2a-version=1.0", ""], ["?A2A-Version=99.0", "1.0"],
  ] as const) {
    test(`is served with the header ${JSON.stringify(header) ?? "left out"}${query && ` and ${query}`} (§3.6.1)`, async () => {
      const reply = await send(worker.url + "/" + query, "SendMessage", header);
      assert.equal(reply.error, undefined);
      assert.ok(reply.result);
    });
  }

  for (const [query, header] of [
    ["", "99.0"], ["", "2.0"], ["", "1.1"], ["", "1.7"], ["", "0.3"], ["", "0.3.0"], ["?A2A-Version=0.3", undefined], ["", "0.5"], ["", "0.2"], ["", "abc"], ["", "1"], ["", "1.x"], ["", "v1.0"], ["", "10.0"],
    ["?A2A-Version=99.0", undefined], ["?A2A-Version=99.0", ""], ["?A2A-Version=1.0", "99.0"],
  ] as const) {
    test(`is refused with the header ${JSON.stringify(header) ?? "left out"}${query && ` and ${query}`} (§3.6.2)`, async () => {
      const reply = await send(worker.url + "/" + query, "SendMessage", header);
      assert.equal(reply.id, 1);
      assert.equal(reply.error?.code, -32009);
      assert.equal(reasonOf(reply), "VERSION_NOT_SUPPORTED");
      assert.match(reply.error?.message ?? "", /send A2A-Version: 1\.0/, "says what to send");
    });
  }

  test("needs its header where STRICT_VERSION is set (§3.6.2)", async (t) => {
    const strict = await startWorker({ vars: { STRICT_VERSION: "true" } });
    t.after(() => strict.stop());
    for (const header of [undefined, "", "0.3"]) {
      assert.equal((await send(strict.url, "SendMessage", header)).error?.code, -32009, header ?? "left out");
    }
    assert.equal((await send(strict.url, "SendMessage", "1.0")).error, undefined);
  });
});

describe("a method of version 0.3", () => {
  for (const [method, header, code, reason] of [
    ["message/send", undefined, -32009, "VERSION_NOT_SUPPORTED"],
    ["message/send", "", -32009, "VERSION_NOT_SUPPORTED"],
    ["message/send", "0.3", -32009, "VERSION_NOT_SUPPORTED"],
    ["tasks/get", undefined, -32009, "VERSION_NOT_SUPPORTED"],
    ["message/send", "1.0", -32601, "METHOD_NOT_FOUND"],
    ["message/send", "99.0", -32009, "VERSION_NOT_SUPPORTED"],
  ] as const) {
    test(`(${method}) is refused with the header ${JSON.stringify(header) ?? "left out"} (§3.6.2)`, async () => {
      const reply = await send(worker.url, method, header);
      assert.equal(reply.error?.code, code);
      assert.equal(reasonOf(reply), reason);
    });
  }
});

describe("a streaming method of version 0.3", () => {
  const post = async (method: string, accept: string, params: unknown = {}): Promise<Response> => {
    const headers = { "content-type": "application/json", accept };
    return fetch(worker.url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: "s-1", method, params }) });
  };

  for (const [method, code] of [
    ["message/stream", -32009],
    ["tasks/resubscribe", -32009],
    // Its clients know no code for versions.
    ["tasks/sendSubscribe", -32601],
  ] as const) {
    test(`(${method}) is refused by a stream of one event, for clients that read nothing else (§3.6.2)`, async () => {
      for (const accept of ["text/event-stream", "application/json, text/event-stream"]) {
        const response = await post(method, accept);
        assert.equal(response.status, 200);
        assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream\b/);
        const lines = (await response.text()).split("\n");
        assert.deepEqual(lines.slice(1), ["", ""], "one line");
        const reply = JSON.parse(lines[0]?.replace(/^data: /, "") ?? "") as Reply;
        assert.equal(reply.id, "s-1");
        assert.equal(reply.error?.code, code);
        assert.equal(reasonOf(reply), "VERSION_NOT_SUPPORTED");
      }
    });

    test(`(${method}) is refused by JSON for a client that wants that (§3.6.2)`, async () => {
      const response = await post(method, "application/json");
      assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
      assert.equal(((await response.json()) as Reply).error?.code, code);
    });
  }

  test("is refused with a reason that the official client shows where it speaks 0.3 (§3.6.2)", async () => {
    const transport = new LegacyJsonRpcTransport({ endpoint: worker.url });
    const part = { content: { $case: "text" as const, value: "hello" }, metadata: undefined, filename: "", mediaType: "" };
    const said = {
      messageId: "m", contextId: "", taskId: "", role: Role.ROLE_USER, parts: [part], metadata: undefined, extensions: [], referenceTaskIds: [],
    };
    const request = { tenant: "", message: said, configuration: undefined, metadata: undefined };
    await assert.rejects(transport.sendMessageStream(request).next(), /A2A 0\.3 is not spoken by this agent; it speaks 1\.0/);
    await assert.rejects(transport.resubscribeTask({ tenant: "", id: "t" }).next(), /A2A 0\.3 is not spoken by this agent/);
  });
});
