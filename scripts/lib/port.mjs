// Ports of this machine.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** The ports to choose from. Systems give ports from 32768 on to programs and connections that do not name one. */
const FIRST = 20_000;
const END = 32_768;

/** The number of ports that are tried. */
const TRIES = 100;

/** A port on which no program listens at the moment, and which the system gives to nobody: it stays free until a program names it. */
export async function freePort() {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(FIRST, END);
    try {
      await listen(port);
      return port;
    } catch (error) {
      if (error.code !== "EADDRINUSE" && error.code !== "EACCES") throw error;
      if (tries >= TRIES) throw error;
    }
  }
}

/** Listens on a port for a moment. Rejects with what the system says if that is not possible. */
async function listen(port) {
  const server = createServer();
  await new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  await new Promise((resolve) => server.close(resolve));
}
