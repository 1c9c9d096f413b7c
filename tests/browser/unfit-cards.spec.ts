// Cards that cannot be used: what was served is shown, with every error at its line, and as text.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, LONG, MARKUP, TURNED } from "./hostile.ts";
import type { View } from "./view.ts";

/** Without `version` and `defaultOutputModes`, and with a skill that has no name. */
const BARE = {
  name: "Bare",
  description: "Lacks what a card needs.",
  supportedInterfaces: [{ url: "http://127.0.0.1:1/", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: {},
  defaultInputModes: ["text/plain"],
  skills: [{ id: "one", name: "One", description: "One.", tags: [] }, { id: "two", description: "Two.", tags: [] }],
};
const SERVED: Record<string, [type: string, body: string]> = {
  bare: ["application/json", JSON.stringify(BARE, null, 2)],
  line: ["application/json", JSON.stringify({ ...BARE, description: "x".repeat(300) })],
  page: ["text/html", "<!doctype html>\n<title>Welcome</title>\n"],
  broken: ["application/json", '{\n  "name": "Broken",\n  "version": "1",,\n}'],
  hostile: ["application/json", JSON.stringify({ ...BARE, name: MARKUP, description: `${MARKUP} ${LONG} ${TURNED}`, [MARKUP]: TURNED, turned: TURNED }, null, 2)],
};

const server = createServer((request, response) => {
  const [type, body] = SERVED[request.url?.split("/")[1] ?? ""] ?? [];
  response.writeHead(body === undefined ? 404 : 200, { "content-type": type ?? "text/plain" }).end(body);
});
let app: Console;
let url: string;
before(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await startConsole();
});
after(async () => {
  await app?.stop();
  server.close();
});

const address = (name: string) => `#/remote/${encodeURIComponent(`${url}/${name}`)}`;
/** The lines with what is wrong with them. */
const wrongLines = async (view: View): Promise<string[]> => {
  const lines = await view.all("listitem", undefined, { within: await view.find("region", "Lines") });
  const texts = await Promise.all(lines.map(async (line) => (await view.text(line)).replace(/\s+/g, " ")));
  return texts.filter((text) => /is required|must|is to stand|no value/.test(text));
};

test("a card without required members is shown as it was served, each error at its line", () => app.visit(address("bare"), async (view) => {
  await view.sees("The card cannot be used: it has 3 errors.");
  await view.sees("Line 1: version");
  const lines = await wrongLines(view);
  assert.equal(lines.length, 2, lines.join("\n"));
  assert.match(lines[0]!, /^1 \{ .*version .*defaultOutputModes/);
  assert.match(lines[1]!, /^2\d \{ .*skills\[1\]\.name/);
  await view.sees('"description": "Lacks what a card needs."');
  await view.sees(`As served by ${url}/bare/.well-known/agent-card.json`);
  await view.inspect("remote-unfit");
}));

test("a card in one line is laid out, and its errors stand at the lines that are shown", () => app.visit(address("line"), async (view) => {
  await view.sees("Its lines are too long to be read, and are broken here.");
  const lines = await wrongLines(view);
  assert.match(lines[1] ?? "", /^2\d \{ .*skills\[1\]\.name/, lines.join("\n"));
}));

test("what is not JSON is shown, too, with the place where it ends to be some", async () => {
  await app.visit(address("page"), async (view) => {
    await view.sees("Line 1: Here no value of JSON begins");
    await view.sees("<title>Welcome</title>");
  });
  await app.visit(address("broken"), async (view) => {
    await view.sees(/Line 3: The name of a member is to stand here/);
    assert.match((await wrongLines(view))[0] ?? "", /^3 "version": "1",, /);
  });
});

test("a hostile one is text", () => app.visit(address("hostile"), async (view) => {
  await view.find("region", "Lines");
  await view.sees("[U+202E]gnp.exe");
  await assertHarmless(view);
}));
