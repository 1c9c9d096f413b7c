// The version that a request asks for (spec §3.6).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
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
    ["", "1.0"], ["", " 1.0 "], ["", "1.0.1"], ["", "1.7"], ["", ""], ["", undefined], ["", "0.3"],
    ["?A2A-Version=1.0", undefined], ["?x=y&a2a-version=1.0", ""], ["?A2A-Version=99.0", "1.0"],
  ] as const) {
    test(`is served with the header ${JSON.stringify(header) ?? "left out"}${query && ` and ${query}`} (§3.6.1)`, async () => {
      const reply = await send(worker.url + "/" + query, "SendMessage", header);
      assert.equal(reply.error, undefined);
      assert.ok(reply.result);
    });
  }

  for (const [query, header] of [
    ["", "99.0"], ["", "2.0"], ["", "0.5"], ["", "0.2"], ["", "abc"], ["", "1"], ["", "1.x"], ["", "v1.0"], ["", "10.0"],
    ["?A2A-Version=99.0", undefined], ["?A2A-Version=99.0", ""], ["?A2A-Version=1.0", "99.0"],
  ] as const) {
    test(`is refused with the header ${JSON.stringify(header) ?? "left out"}${query && ` and ${query}`} (§3.6.2)`, async () => {
      const reply = await send(worker.url + "/" + query, "SendMessage", header);
      assert.equal(reply.id, 1);
      assert.equal(reply.error?.code, -32009);
      assert.equal(reasonOf(reply), "VERSION_NOT_SUPPORTED");
      assert.match(reply.error?.message ?? "", /1\.0/, "says what is served");
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
