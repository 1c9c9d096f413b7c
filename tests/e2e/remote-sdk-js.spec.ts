// The client of the crate with servers of the official SDK for JavaScript, of 1.0 and of 0.3.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call } from "./native-call.ts";
import { startServer, startServerOf03, type SampleServer } from "./servers/js.ts";
import { walks } from "./servers/walk.ts";

let server: SampleServer;
let serverOf03: SampleServer;
before(async () => {
  [server, serverOf03] = await Promise.all([startServer(), startServerOf03()]);
});
after(() => Promise.all([server.stop(), serverOf03.stop()]));

/** 0.3 has no listing. */
const list = /^A2A 0\.3 over (JSON-RPC|HTTP\+JSON) has no ListTasks$/;
/** Over HTTP+JSON this SDK loses the names of files. */
const parts = /^the parts: .*filename: None, media_type: Some\("image\/png"\)/;
/** The SDK of 0.3 returns no history unless a length is requested. */
const get = /^whether the history has the message: false/;

walks("@a2a-js/sdk", () => server, "auto", "auto");
walks("@a2a-js/sdk", () => server, "1.0", "JSONRPC");
walks("@a2a-js/sdk", () => server, "1.0", "HTTP+JSON");
walks("@a2a-js/sdk", () => server, "0.3", "JSONRPC", { list });
// In this binding, the body of a webhook's registration differs from that of the SDK of 0.3.
walks("@a2a-js/sdk", () => server, "0.3", "HTTP+JSON", { list, parts, webhooks: /missing pushNotificationConfig \(-32602\)$/ });
walks("@a2a-js/sdk 0.3", () => serverOf03, "auto", "auto", { list, get });
walks("@a2a-js/sdk 0.3", () => serverOf03, "0.3", "HTTP+JSON", { list, get, parts });

for (const [name, url, version] of [["@a2a-js/sdk", () => server.url, "1.0"], ["@a2a-js/sdk 0.3", () => serverOf03.url, "0.3"]] as const) {
  test(`the client for the command line answers a question of ${name}, whose stream begins with the task as it was`, async () => {
    const asked = await call("send", url(), "ask", "--version", version);
    assert.deepEqual([asked.code, asked.output], [3, "which colour?\n"], asked.notes);
    const [, task = ""] = /--task (\S+)/.exec(asked.notes) ?? [];
    const answered = await call("send", url(), "green", "--task", task, "--version", version);
    assert.deepEqual([answered.code, answered.output], [0, "green\n"], answered.notes);
  });
}
