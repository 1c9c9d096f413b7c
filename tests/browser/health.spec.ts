// What the console says of agents that need something outside of the Worker: a program that runs or not, a binding that is there or not.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { withHttpAgents } from "../e2e/http-agents.ts";
import { startConsole, type Console } from "./console.ts";
import type { View } from "./view.ts";

const program = createServer((_, response) => void response.writeHead(404).end());
const late = createServer((_, response) => void response.end("up"));
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
let app: Console;
let port: number;
before(async () => {
  await Promise.all([program, late].map((server) => once(server.listen(0, "127.0.0.1"), "listening")));
  port = portOf(late);
  await once(late.close(), "close");
  const at = (port: number) => `http://127.0.0.1:${port}/s3cret?key=s3cret`;
  const tables = { up: { url: at(portOf(program)) }, down: { url: at(port) }, unbound: { service: "SHOP" } };
  app = await startConsole({ vars: { AGENTS: withHttpAgents(tables) } });
});
after(async () => {
  await app?.stop();
  program.close();
});

const item = async (view: View, slug: string): Promise<string> => {
  const all = await view.all("listitem");
  const texts = await Promise.all(all.map((one) => view.text(one)));
  return texts.find((text) => text.includes(`/${slug} version`)) ?? "";
};

test("an agent whose program is down, or whose binding is missing, is not shown as ready", () => app.visit("#/agents", async (view) => {
  await view.sees("Not running");
  await view.sees("Binding missing");
  await view.until(async () => /Ready/.test(await item(view, "up")), () => item(view, "up"));
  const down = await item(view, "down");
  assert.match(down, new RegExp(`Not running.*Its program at http://127\\.0\\.0\\.1:${port} refused the connection, or was not found: start it, or correct`, "s"));
  const unbound = await item(view, "unbound");
  assert.match(unbound, /Binding missing.*This Worker has no service binding "SHOP": add \[\[services\]\] with binding = "SHOP"/s);
  assert.doesNotMatch(down + unbound, /Ready|s3cret/);
  assert.match(await item(view, "demo"), /Ready/);
  await view.inspect("agents-health");
  await view.go("#/agents/down");
  await view.sees("refused the connection");
  await view.sees("Not running");
  await view.go("#/chat");
  await view.sees("Binding missing");
}));

test("a program that was started is ready when the window is looked at again", () => app.visit("#/agents", async (view) => {
  await view.sees("Not running");
  await once(late.listen(port, "127.0.0.1"), "listening");
  try {
    await view.until(async () => {
      await view.page.evaluate(() => window.dispatchEvent(new Event("focus")));
      return /Ready/.test(await item(view, "down"));
    }, () => item(view, "down"));
  } finally {
    late.closeAllConnections();
    late.close();
  }
}));
