// The client of the crate with servers of the official SDK for Python, of 1.0 and of 0.3.

import { after, before } from "node:test";
import { python, pythonV03, withoutPython, withoutPythonV03 } from "./python.ts";
import type { SampleServer } from "./servers/js.ts";
import { startPython, walks } from "./servers/walk.ts";

let server: SampleServer | undefined;
let serverOf03: SampleServer | undefined;
before(async () => {
  [server, serverOf03] = await Promise.all([
    withoutPython === false ? startPython(python, "sample.py") : undefined,
    withoutPythonV03 === false ? startPython(pythonV03, "sample_v03.py") : undefined,
  ]);
});
after(() => Promise.all([server?.stop(), serverOf03?.stop()]));

const newest = (): SampleServer => server!;
const older = (): SampleServer => serverOf03!;

/** 0.3 has no listing. */
const list = /^A2A 0\.3 over (JSON-RPC|HTTP\+JSON) has no ListTasks$/;

walks("a2a-sdk", newest, "auto", "auto", {}, withoutPython);
walks("a2a-sdk", newest, "1.0", "HTTP+JSON", {}, withoutPython);
walks("a2a-sdk", newest, "0.3", "JSONRPC", { list }, withoutPython);
// In this binding, the SDK has no path for the deletion of a webhook.
walks("a2a-sdk", newest, "0.3", "HTTP+JSON", { list, webhooks: /answered 404: Not Found$/ }, withoutPython);
walks("a2a-sdk 0.3", older, "auto", "auto", { list }, withoutPythonV03);
// In this binding, the SDK loses timestamps, and cannot list webhooks.
const otherwise = { list, send: /^a timestamp: false/, webhooks: /unknown exception \(-32603\)$/ };
walks("a2a-sdk 0.3", older, "0.3", "HTTP+JSON", otherwise, withoutPythonV03);
