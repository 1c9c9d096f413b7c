// Lets the Worker in development have its runtime killed (`POST /_dev/kill`, dev/kill.js): an address on this machine that only it knows.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

/** The answer reaches the page before the runtime ends. */
const AFTER_MS = 100;

/**
 * Opens the address. A POST there kills the runtime of `wrangler`, the process that leads the group, as the printed command does; `serve` notices, and starts
 * it again.
 */
export async function openKillSwitch() {
  const path = `/${randomBytes(24).toString("hex")}`;
  const kills = { url: "", wrangler: undefined };
  const server = createServer((request, response) => {
    request.resume();
    const isMeant = request.method === "POST" && request.url === path && kills.wrangler !== undefined;
    response.writeHead(isMeant ? 202 : 404).end();
    const { wrangler } = kills;
    if (isMeant) setTimeout(() => wrangler === kills.wrangler && killRuntime(wrangler), AFTER_MS);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  // Serving ends when wrangler does, not when this does.
  server.unref();
  kills.url = `http://127.0.0.1:${server.address().port}${path}`;
  return kills;
}

const killRuntime = (wrangler) => spawnSync("pkill", ["-9", "-g", String(wrangler), "workerd"]);
