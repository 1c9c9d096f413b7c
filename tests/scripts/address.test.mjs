// Where `start` and `dev` serve.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { checkAddress, isLoopback, readAddress, urlAt } from "../../scripts/lib/address.mjs";
import { freePort } from "../../scripts/lib/port.mjs";
import { makeProject } from "./project.mjs";

let project;
before(() => {
  project = makeProject({ packages: "no wrangler" });
  project.write("facts.json", JSON.stringify({ agents: [{ slug: "plain" }, { slug: "guarded", access: { schemes: { key: { kind: "api_key" } } } }] }));
});
after(() => project.remove());

const refuse = (problem) => new Error(problem);
const WARNING = /Warning: this is not a loopback address, so others reach this machine\. Anybody may call plain/;

/** Starts with these options, and answers what wrangler was told and what the user was. */
async function start(...options) {
  const port = await freePort();
  const { output } = await project.run("start", "--port", String(port), ...options);
  const told = project.calls().findLast(([name, command]) => name === "wrangler" && command === "dev");
  return { port, output, ip: told?.[told.indexOf("--ip") + 1] };
}

test("without a host, only this machine is served, and nothing is warned of", async () => {
  const { port, output, ip } = await start();
  assert.equal(ip, "127.0.0.1");
  assert.match(output, new RegExp(`a2a-edge serves at http://localhost:${port}\n`));
  assert.doesNotMatch(output, WARNING);
  assert.match(output, /^Anybody may call plain here\. Once deployed, plain will refuse every call until \[access\] in agents\/plain\.toml says who may call\.$/m);
  assert.match(output, /^POST \/ 200 OK$/m);
  assert.doesNotMatch(output, /Connection status|env\.DB/);
});

test("a host that others can reach is served with a warning", async () => {
  const { output, ip } = await start("--host", "0.0.0.0");
  assert.equal(ip, "0.0.0.0");
  assert.match(output, WARNING);
});

test("a runtime that dies is started again, where it was", async () => {
  project.write("crash.txt", "");
  const before = project.calls().length;
  const { output, port } = await start();
  const started = project.calls().slice(before).filter(([name, command]) => name === "wrangler" && command === "dev");
  assert.equal(started.length, 2);
  const [first, second] = started.map((words) => words.filter((word) => !word.startsWith("DEV_TOKEN:")));
  assert.deepEqual(first, second);
  assert.match(output, new RegExp(`The runtime has died; starting it again\\.\nServing at http://localhost:${port} again\\.\n`));
});

test("what is no address of this machine is refused before anything is built", async () => {
  for (const [host, problem] of [["everywhere", /The host must be an address of this machine/], ["192.0.2.1", /This machine cannot listen at 192\.0\.2\.1/]]) {
    const before = project.calls().length;
    const { code, output } = await project.run("start", "--host", host);
    assert.equal(code, 1);
    assert.match(output, problem);
    assert.equal(project.calls().length, before);
  }
});

test("the option has precedence over BIND_HOST, and that over the default", () => {
  const read = (values, env) => readAddress(values, refuse, env);
  assert.deepEqual(read({}, {}), { host: "127.0.0.1", port: 8787 });
  assert.deepEqual(read({}, { BIND_HOST: "0.0.0.0", PORT: "9000" }), { host: "0.0.0.0", port: 9000 });
  assert.deepEqual(read({ host: "::1", port: "1" }, { BIND_HOST: "0.0.0.0", PORT: "9000" }), { host: "::1", port: 1 });
  assert.deepEqual(read({ host: "localhost" }, { BIND_HOST: "" }), { host: "127.0.0.1", port: 8787 });
  assert.throws(() => read({ port: "65536" }, {}), /The port must be a number from 1 to 65535, got "65536"/);
  assert.throws(() => read({}, { BIND_HOST: "example.com" }), /The host must be an address .*; got "example.com"/);
});

test("loopback addresses are told from others", () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"]) assert.ok(isLoopback(host), host);
  for (const host of ["0.0.0.0", "::", "192.168.1.5", "10.0.0.127", "fe80::1", "2001:db8::1", "::11"]) assert.ok(!isLoopback(host), host);
});

test("the URL is one that a client can use", () => {
  assert.equal(urlAt({ host: "127.0.0.1", port: 1 }), "http://localhost:1");
  assert.equal(urlAt({ host: "::1", port: 1 }), "http://[::1]:1");
  assert.equal(urlAt({ host: "192.168.1.5", port: 1 }), "http://192.168.1.5:1");
  assert.doesNotMatch(urlAt({ host: "0.0.0.0", port: 1 }), /0\.0\.0\.0/);
});

test("a port that is taken is told with the next one", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await assert.rejects(checkAddress({ command: "start", host: "127.0.0.1", port }), new RegExp(`Port ${port} is in use.*--port ${port + 1}`, "s"));
  server.close();
});
