// The commands for operators as processes, and a server in place of a Worker that answers whatever a test wants.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../scripts/a2a-edge.mjs", import.meta.url));

/** The agents of `agentsOf` (isolation.ts), where the cards of those with access rules have their schemes, as the checker writes them. */
export function withSchemes(agents: string): string {
  const embedded = JSON.parse(agents) as { agents: { slug: string; card: string; access: { schemes?: object } }[] };
  const securitySchemes = {
    key: { apiKeySecurityScheme: { location: "header", name: "X-Api-Key" } },
    jwt: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
  };
  const securityRequirements = [{ schemes: { key: { list: [] } } }, { schemes: { jwt: { list: [] } } }];
  const declared = embedded.agents.map((agent) => (["guarded", "other"].includes(agent.slug) ? { ...agent, card: JSON.stringify({ ...JSON.parse(agent.card), securitySchemes, securityRequirements }) } : agent));
  return JSON.stringify({ ...embedded, agents: declared });
}

/** The end of a process. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** How a command is run. */
export interface Run {
  /** The text on stdin; none by default. */
  input?: string;
  env?: Record<string, string>;
  /** Options of Node, such as a bound of its memory. */
  node?: string[];
}

/** A user of the commands, with a folder of configurations of its own. */
export class Operator {
  readonly folder = mkdtempSync(join(tmpdir(), "a2a-edge-operator-"));
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Runs a command against the server until it ends. */
  run(args: string[], options: Run = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /** Starts a command against the server. */
  start(args: string[], { input, env = {}, node = [] }: Run = {}): { ended: Promise<Ended>; printed(): string; stop(): void } {
    const child = spawn(process.execPath, [...node, program, ...args], { env: this.environment(env), cwd: this.folder });
    return watched(child, input);
  }

  /**
   * Runs a command on a terminal. Each of the `typed` texts is typed when the screen shows its question. `stdout` is all that the screen has shown.
   */
  onTerminal(args: string[], typed: [question: string, text: string][] = [], env: Record<string, string> = {}): Promise<Ended> {
    const line = [process.execPath, program, ...args].map((word) => `'${word}'`).join(" ");
    const child = spawn("script", ["-qec", `stty cols 80 rows 24; ${line}`, "/dev/null"], { env: this.environment({ TERM: "xterm", ...env }), cwd: this.folder });
    const waiting = [...typed];
    let screen = "";
    child.stdout.on("data", (piece: Buffer) => {
      screen += piece.toString();
      const [next] = waiting;
      if (next === undefined || !screen.includes(next[0])) return;
      waiting.shift();
      screen = "";
      child.stdin.write(next[1]);
    });
    return watched(child).ended;
  }

  /** The files that the user keeps, each with its mode and its text. */
  kept(): { path: string; mode: number; text: string }[] {
    const paths = readdirSync(this.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return paths.map((entry) => join(entry.parentPath, entry.name)).map((path) => ({ path, mode: statSync(path).mode & 0o777, text: readFileSync(path, "utf8") }));
  }

  /** Deletes the files of the user. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private environment(env: Record<string, string>): Record<string, string> {
    return { PATH: process.env["PATH"] ?? "", HOME: this.folder, XDG_CONFIG_HOME: this.folder, TZ: "UTC", A2A_EDGE_URL: this.#url, ...env };
  }
}

function watched(child: ReturnType<typeof spawn>, input?: string): { ended: Promise<Ended>; printed(): string; stop(): void } {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (piece: Buffer) => void (stdout += piece.toString()));
  child.stderr?.on("data", (piece: Buffer) => void (stderr += piece.toString()));
  if (input !== undefined) child.stdin?.end(input);
  return {
    ended: new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, stdout, stderr }));
    }),
    printed: () => stdout,
    stop: () => void child.kill(),
  };
}

/** The lines of JSON that a command has printed. */
export function linesOf<Line>({ stdout }: Ended): Line[] {
  return stdout.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line) as Line);
}

/** True where a test can run a command on a terminal: by `script` of util-linux. */
export const hasTerminal = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

/** A server in place of a Worker. */
export interface StandIn {
  url: string;
  /** The requests so far, with their headers. */
  requests: { url: string; headers: Record<string, unknown> }[];
  close(): void;
}

/** Starts a server whose requests `answer` answers. */
export async function standIn(answer: (path: string, response: ServerResponse, request: IncomingMessage) => void): Promise<StandIn> {
  const requests: StandIn["requests"] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", headers: request.headers });
    answer((request.url ?? "").split("?")[0] ?? "", response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An agent in the list of a server in place of a Worker. */
export function listed(slug: string, about: object = {}): object {
  return { slug, name: slug, version: "1", isOpen: true, access: { securitySchemes: {}, hasOperators: false }, health: { state: "ok" }, ...about };
}

/** The members of an agent that takes keys. */
export const GUARDED = {
  isOpen: false,
  access: { securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "X-Api-Key" } } }, hasOperators: true },
};

export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
