// Requirements that no conformance kit tests, as far as no other spec shows them: docs/conformance.md has all of them in a table.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { after, before, test } from "node:test";
import { bearer, caller, fresh, guarded } from "./access.ts";
import { rest, rpc } from "./answers.ts";
import { localCertificate } from "./certificate.ts";
import { Agent, followUp, message } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { start } from "./native-call.ts";
import { subscribe } from "./stream.ts";

const TOKEN = fresh();
const access = { schemes: { token: { kind: "bearer", callers: [caller("alice", ["TOKEN"])] } } };

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: { AGENTS: guarded({ guarded: access }), TOKEN } });
});
after(() => worker.stop());

/** A server on this machine, which ends with the test. */
async function serve(t: { after(end: () => void): void }, server: Server & { closeAllConnections(): void }): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Every operation: its method, its parameters, and its verb and path. */
const OPERATIONS: [string, object, "GET" | "POST" | "DELETE", string][] = [
  ["SendMessage", { message: message("hello") }, "POST", "/message:send"],
  ["SendStreamingMessage", { message: message("hello") }, "POST", "/message:stream"],
  ["GetTask", { id: "x" }, "GET", "/tasks/x"],
  ["ListTasks", {}, "GET", "/tasks"],
  ["CancelTask", { id: "x" }, "POST", "/tasks/x:cancel"],
  ["SubscribeToTask", { id: "x" }, "POST", "/tasks/x:subscribe"],
  ["CreateTaskPushNotificationConfig", { taskId: "x", url: "https://hooks.example.com" }, "POST", "/tasks/x/pushNotificationConfigs"],
  ["GetTaskPushNotificationConfig", { taskId: "x", id: "y" }, "GET", "/tasks/x/pushNotificationConfigs/y"],
  ["ListTaskPushNotificationConfigs", { taskId: "x" }, "GET", "/tasks/x/pushNotificationConfigs"],
  ["DeleteTaskPushNotificationConfig", { taskId: "x", id: "y" }, "DELETE", "/tasks/x/pushNotificationConfigs/y"],
  ["GetExtendedAgentCard", {}, "GET", "/extendedAgentCard"],
];

test("every operation over either binding asks for credentials, and judges those that come (§7.4)", async () => {
  const base = `${worker.url}/guarded`;
  for (const [method, params, verb, path] of OPERATIONS) {
    const body = verb === "POST" ? params : undefined;
    for (const headers of [{}, bearer(fresh()), { authorization: TOKEN }]) {
      const [one, other] = [await rpc(base, method, params, headers), await rest(base + path, verb, body, headers)];
      assert.deepEqual([one.status, other.status], [-32000, 401], `${method} with ${JSON.stringify(headers)}`);
      assert.equal(one.error, other.error);
    }
    if (method === "SendStreamingMessage") continue;
    const [one, other] = [await rpc(base, method, params, bearer(TOKEN)), await rest(base + path, verb, body, bearer(TOKEN))];
    assert.ok(one.status !== -32000 && other.status !== 401, `${method} with the token`);
  }
});

test("a stream stays open while its task waits for credentials, and tells what comes of them (§7.6.1)", async () => {
  const agent = new Agent(`${worker.url}/demo`);
  const task = await agent.sendForTask("auth");
  assert.equal(task.status.state, "TASK_STATE_AUTH_REQUIRED");
  const stream = await subscribe(agent.endpoint, task.id);
  const first = await stream.next();
  assert.equal(first.data.result?.task?.status.state, "TASK_STATE_AUTH_REQUIRED");
  await agent.send(followUp(task, "signed in"));
  const states = [];
  for await (const { data } of stream) states.push(data.result?.statusUpdate?.status.state);
  assert.equal(states.at(-1), "TASK_STATE_COMPLETED");
});

test("the client names the version in every request (§3.6.1)", async (t) => {
  const seen: [string, string | string[] | undefined][] = [];
  const proxy = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    seen.push([`${asked.method} ${asked.url}`, asked.headers["a2a-version"]]);
    const { method, url: path = "", headers } = asked;
    const [answer] = (await once(asked.pipe(request(worker.url, { method, path, headers, agent: false })), "response")) as [IncomingMessage];
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(response);
  };
  const url = `http://${await serve(t, createServer((asked, response) => void proxy(asked, response)))}/demo`;
  const task = (await new Agent(`${worker.url}/demo`).sendForTask("ask")).id;
  for (const [version, binding] of [["1.0", "JSONRPC"], ["1.0", "HTTP+JSON"], ["0.3", "JSONRPC"], ["0.3", "HTTP+JSON"]] as const) {
    seen.length = 0;
    for (const command of [["send", url, "hello"], ["send", url, "hello", "--no-stream"], ["get", url, task], ...(version === "1.0" ? [["list", url, "--context", "c"]] : [])]) {
      const { code, notes } = await start("call", [...command, "--version", version, "--binding", binding]).ended;
      assert.equal(code, 0, notes);
    }
    const calls = seen.filter(([what]) => !what.includes("/.well-known/"));
    assert.ok(calls.length >= 3, JSON.stringify(seen));
    assert.deepEqual(calls.filter(([, named]) => named !== version), [], `${version} over ${binding}`);
  }
});

test("the client verifies the certificate of a server, and speaks TLS 1.3 with one that does (§7.1, §7.2)", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-tls-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const certificate = localCertificate();
  const trusted = join(folder, "trusted.pem");
  writeFileSync(trusted, certificate.cert);
  const protocols = new Set<string | null>();
  const opened = async (options: ServerOptions): Promise<string> => {
    const server = createTlsServer({ ...certificate, ...options }, ({ socket }, response) => {
      protocols.add((socket as TLSSocket).getProtocol());
      response.writeHead(404).end();
    });
    return `https://${await serve(t, server)}/agent`;
  };
  const card = async (options: ServerOptions, env: Record<string, string>): Promise<string> => (await start("call", ["card", await opened(options)], env).ended).notes;

  const distrusted = await card({}, {});
  assert.deepEqual([...protocols], [], "nothing was asked of a server that nobody vouches for");
  assert.match(distrusted, /certificate/i);
  assert.match(await card({}, { SSL_CERT_FILE: trusted }), /404/);
  assert.deepEqual([...protocols], ["TLSv1.3"]);
  // Nothing older than 1.2.
  assert.doesNotMatch(await card({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }, { SSL_CERT_FILE: trusted }), /404/);
  assert.deepEqual([...protocols], ["TLSv1.3"]);
});
