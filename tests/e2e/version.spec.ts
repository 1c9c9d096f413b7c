// The version of a request (spec §3.6).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Role } from "@a2a-js/sdk";
import { LegacyJsonRpcTransport } from "@a2a-js/sdk/compat/v0_3/client";
import { RpcError, message, type Reply } from "./client.ts";
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

const reasonOf = ({ error }: Reply) => (error === undefined ? undefined : new RpcError(error).reason);

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

describe("a request whose name and version do not fit is told what it looks like, what it asks for and what to send (§3.6.2)", () => {
  // `picky` supports only 1.0, `lodge` also 0.3, `numbers` also the family tasks/send, `club` all of them.
  const MISTAKES = [
    ["picky", "SendMessage", "0.3", -32009, "SendMessage is a method of A2A 1.0 but the request asks for A2A 0.3; send A2A-Version: 1.0"],
    ["club", "SendMessage", "0.3", -32009, "SendMessage is a method of A2A 1.0 but the request asks for A2A 0.3; send A2A-Version: 1.0, or message/send for A2A 0.3"],
    ["club", "GetTask", "99.0", -32009, "GetTask is a method of A2A 1.0 but the request asks for A2A 99.0; send A2A-Version: 1.0"],
    ["picky", "message/send", undefined, -32009, "message/send is a method of A2A 0.3, which this agent does not support; send SendMessage with A2A-Version: 1.0"],
    ["picky", "message/send", "", -32009, "message/send is a method of A2A 0.3, which this agent does not support; send SendMessage with A2A-Version: 1.0"],
    ["numbers", "message/send", "0.3", -32009, "message/send is a method of A2A 0.3, which this agent does not support; send SendMessage with A2A-Version: 1.0"],
    ["picky", "tasks/get", undefined, -32009, "tasks/get is a method of A2A 0.3 and 0.1, which this agent does not support; send GetTask with A2A-Version: 1.0"],
    ["lodge", "tasks/send", undefined, -32601, "tasks/send is a method of A2A 0.1, which this agent does not support; send SendMessage with A2A-Version: 1.0"],
    ["numbers", "tasks/send", "0.3", -32009, "tasks/send is a method of A2A 0.1 but the request asks for A2A 0.3; send no A2A-Version, or SendMessage with A2A-Version: 1.0"],
    ["picky", "message/send", "1.0", -32601, "message/send is a method of A2A 0.3 but the request asks for A2A 1.0; send SendMessage with A2A-Version: 1.0"],
    ["lodge", "message/send", "1.0", -32601, "message/send is a method of A2A 0.3 but the request asks for A2A 1.0; send A2A-Version: 0.3 or none, or SendMessage with A2A-Version: 1.0"],
    ["club", "message/send", "0.2", -32009, "message/send is a method of A2A 0.3 but the request asks for A2A 0.2; send A2A-Version: 0.3 or none, or SendMessage with A2A-Version: 1.0"],
    ["picky", "nonsense", "99.0", -32009, "the request asks for A2A 99.0, which this agent does not support; it supports 1.0: send A2A-Version: 1.0"],
    ["club", "tasks/list", "0.3", -32601, 'there is no method "tasks/list"'],
  ] as const;
  for (const [agent, method, header, code, sentence] of MISTAKES) {
    test(`${method} to ${agent} with the header ${JSON.stringify(header) ?? "left out"}`, async () => {
      const reply = await send(`${worker.url}/${agent}`, method, header);
      assert.deepEqual([reply.error?.code, reply.error?.message], [code, sentence]);
      // Clients of 0.1 know no code below -32005, so their methods are refused as missing methods.
      assert.equal(reasonOf(reply), code === -32601 && !sentence.includes("does not support") ? "METHOD_NOT_FOUND" : "VERSION_NOT_SUPPORTED");
    });
  }

  const PATHS = [
    ["picky", "GET", "tasks/t", "0.3", 400, "tasks/t is a path of A2A 1.0 but the request asks for A2A 0.3; send A2A-Version: 1.0"],
    ["club", "POST", "message:send", "0.3", 400, "message:send is a path of A2A 1.0 but the request asks for A2A 0.3; send A2A-Version: 1.0, or v1/message:send for A2A 0.3"],
    ["picky", "POST", "v1/message:send", undefined, 400, "v1/message:send is a path of A2A 0.3, which this agent does not support; send message:send with A2A-Version: 1.0"],
    ["numbers", "GET", "v1/tasks/t", "0.3", 400, "v1/tasks/t is a path of A2A 0.3, which this agent does not support; send tasks/t with A2A-Version: 1.0"],
    ["picky", "GET", "agent/authenticatedExtendedCard", undefined, 400, "agent/authenticatedExtendedCard is a path of A2A 0.3, which this agent does not support; send extendedAgentCard with A2A-Version: 1.0"],
    ["lodge", "GET", "v1/tasks/t", "1.0", 404, "v1/tasks/t is a path of A2A 0.3 but the request asks for A2A 1.0; send A2A-Version: 0.3 or none, or tasks/t with A2A-Version: 1.0"],
    ["lodge", "GET", "v1/tasks/t", "2.0", 400, "v1/tasks/t is a path of A2A 0.3 but the request asks for A2A 2.0; send A2A-Version: 0.3 or none, or tasks/t with A2A-Version: 1.0"],
  ] as const;
  for (const [agent, verb, path, header, status, sentence] of PATHS) {
    test(`${verb} ${path} to ${agent} with the header ${header ?? "left out"}`, async () => {
      const headers: Record<string, string> = { "content-type": "application/json", ...(header === undefined ? {} : { "a2a-version": header }) };
      const response = await fetch(`${worker.url}/${agent}/${path}`, { method: verb, headers, ...(verb === "POST" ? { body: "{}" } : {}) });
      const body = (await response.json()) as { message?: string; type?: string; error: { code: number; message: string } };
      assert.deepEqual([response.status, body.error.code, body.error.message], [status, status, sentence]);
      if (path.startsWith("v1/")) assert.equal(body.message, sentence, "the SDKs of 0.3 read it here");
    });
  }

  test("a preflight of a path of a version that is not spoken passes, so that pages can read the refusal (§8.2)", async () => {
    const response = await fetch(`${worker.url}/picky/v1/message:send`, { method: "OPTIONS", headers: { origin: "https://page.example", "access-control-request-method": "POST" } });
    assert.ok(response.ok);
    assert.match(response.headers.get("access-control-allow-methods") ?? "", /\bPOST\b/);
  });
});

describe("a streaming method of version 0.3", () => {
  const post = async (method: string, accept: string, params: unknown = {}): Promise<Response> => {
    const headers = { "content-type": "application/json", accept };
    return fetch(`${worker.url}/picky`, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: "s-1", method, params }) });
  };

  for (const [method, code] of [
    ["message/stream", -32009],
    ["tasks/resubscribe", -32009],
    // Clients of 0.1 know no code for versions.
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
    const transport = new LegacyJsonRpcTransport({ endpoint: `${worker.url}/picky` });
    const part = { content: { $case: "text" as const, value: "hello" }, metadata: undefined, filename: "", mediaType: "" };
    const said = {
      messageId: "m", contextId: "", taskId: "", role: Role.ROLE_USER, parts: [part], metadata: undefined, extensions: [], referenceTaskIds: [],
    };
    const request = { tenant: "", message: said, configuration: undefined, metadata: undefined };
    await assert.rejects(transport.sendMessageStream(request).next(), /message\/stream is a method of A2A 0\.3, which this agent does not support; send SendStreamingMessage with A2A-Version: 1\.0/);
    await assert.rejects(transport.resubscribeTask({ tenant: "", id: "t" }).next(), /which this agent does not support; send SubscribeToTask/);
  });
});
