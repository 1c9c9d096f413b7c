// Large bodies that arrive quickly at first and then very slowly, over many connections at the same time; when one is answered
// or closed, a new one begins.

import { connect, type Socket } from "node:net";
import type { Worker } from "../workers.ts";
import type { Attack, Running } from "./attack.ts";

const MEBIBYTE = 1024 * 1024;

/** The part of a body that is sent at once. It is more than half, so that room is reserved for the whole body. */
const AT_ONCE = 0.6;

/** The interval between pieces of one byte. */
const PIECE_MS = 200;

/** The pause before an ended connection is opened again. */
const AGAIN_MS = 100;

interface Slow {
  path: string;
  connections: number;
  /** The length of each body. */
  bytes: number;
}

export const slowBodies: Attack[] = [
  slow("17 bodies of 1 MB, slowly, to a callback that does not exist", {
    path: `/demo/callbacks/${"0a".repeat(32)}${"0b".repeat(32)}`, connections: 17, bytes: MEBIBYTE,
  }),
  slow("10 bodies of 4 MB, slowly, to an open agent", { path: "/demo", connections: 10, bytes: 4 * MEBIBYTE }),
];

function slow(name: string, how: Slow): Attack {
  return { name, begin: (worker) => begin(worker, how) };
}

async function begin(worker: Worker, { path, connections, bytes }: Slow): Promise<Running> {
  const port = Number(new URL(worker.url).port);
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\na2a-version: 1.0\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;
  const first = head + " ".repeat(Math.floor(bytes * AT_ONCE));
  const open = new Set<Socket>();
  let isOver = false;
  const attack = (under?: () => void): void => {
    if (isOver) return;
    const socket = connect({ port, host: "127.0.0.1" });
    open.add(socket);
    socket.write(first, () => under?.());
    const pieces = setInterval(() => void socket.write(" "), PIECE_MS);
    // Any answer means that this body is refused, so the connection is closed.
    socket.on("data", () => socket.destroy()).on("error", () => socket.destroy());
    socket.on("close", () => {
      under?.();
      clearInterval(pieces);
      open.delete(socket);
      setTimeout(attack, AGAIN_MS);
    });
  };
  await Promise.all(Array.from({ length: connections }, () => new Promise<void>((resolve) => attack(resolve))));
  return {
    async stop() {
      isOver = true;
      const closed = [...open].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
      for (const socket of open) socket.destroy();
      await Promise.all(closed);
    },
  };
}
