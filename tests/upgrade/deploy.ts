// A Worker that is replaced by another build on the same storage while runs of every kind are under way, and the servers that the runs call.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildDir, startWorker, type Worker } from "../e2e/harness.ts";
import { call, contentOf, held, resultsIn, say, ModelServer, type Asked } from "../e2e/model-server.ts";
import { checked } from "../e2e/product.ts";
import { Sink } from "../e2e/sink.ts";
import { freePort } from "../../scripts/lib/port.mjs";
import { wrapBuild } from "./wrapped.ts";

/** The largest number of an object's tables that the build reads. */
export const READS = Number(/OBJECT: Format = Format \{ reads: (\d+) \}/.exec(readFileSync(new URL("../../src/format.rs", import.meta.url), "utf8"))?.[1]);

/** `present` is the build that is tested, `next` one whose objects have tables with the next number (next.js). */
export type Build = "present" | "next";

/** After how many events the model holds an answer that it streams. */
const HELD_AFTER = 7;
const WORDS = 12;

/** A running deployment. */
export class Deployment {
  readonly sink: Sink;
  readonly model: ModelServer;
  readonly storage = mkdtempSync(join(tmpdir(), "a2a-edge-deploy-"));
  /** When the Worker was killed last, in milliseconds since the epoch. */
  killedAt = Infinity;
  /** How long the next Worker took from then until it listened. */
  startedAfterMs = 0;
  /** When requests came to each path of the sink. */
  readonly #times = new Map<string, number[]>();
  readonly #askedAt = new Map<Asked, number>();
  readonly #builds: Record<Build, string>;
  readonly #port: number;
  readonly #vars: Record<string, string>;
  #worker: Worker | undefined;

  private constructor(sink: Sink, model: ModelServer, next: string, port: number, vars: Record<string, string>) {
    this.sink = sink;
    this.model = model;
    this.#builds = { present: buildDir, next };
    this.#port = port;
    this.#vars = { AGENTS: "", MODEL_URL: model.url, ...vars };
    sink.otherwise = ({ path }) => {
      const times = this.#times.get(path) ?? [];
      times.push(Date.now());
      this.#times.set(path, times);
      return {};
    };
    model.answerWith((asked) => {
      this.#askedAt.set(asked, Date.now());
      const name = nameIn(asked);
      if (name.startsWith("lead")) {
        const { job } = resultsIn(asked);
        return job === undefined ? call("helper", { prompt: `steps ${sink.url}/${name}` }, "job") : say(`It was said: ${job}`);
      }
      const answer = say(wordsOf(asked));
      return this.askedBy(name).length === 1 ? held(answer, HELD_AFTER) : answer;
    });
  }

  /** Opens the servers; no Worker runs yet. */
  static async open(vars: Record<string, string> = {}): Promise<Deployment> {
    const next = await wrapBuild(buildDir, "next.js", { constants: { READS: String(READS) }, agents });
    return new Deployment(await Sink.open(), await ModelServer.start(), next, await freePort(), vars);
  }

  /** Starts the Worker of a build on what the one before it has stored. */
  async start(build: Build): Promise<void> {
    const options = { build: this.#builds[build], agents, persist: this.storage, port: this.#port, vars: this.#vars };
    this.#worker = await startWorker(options);
    this.startedAfterMs = Date.now() - this.killedAt;
  }

  /** Ends the Worker like a crash of the machine. */
  async kill(): Promise<void> {
    this.killedAt = Date.now();
    await this.#worker?.kill9();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** When the first request since the kill came to this path of the sink or one below it; undefined if none has come. */
  cameAt(path: string): number | undefined {
    const near = [...this.#times].filter(([one]) => one === path || one.startsWith(`${path}/`)).flatMap(([, times]) => times);
    return first(near.filter((time) => time >= this.killedAt));
  }

  /** When the model was first asked since the kill, in a run with this name. */
  askedAt(name: string): number | undefined {
    return first(this.askedBy(name).map((asked) => this.#askedAt.get(asked) ?? 0).filter((time) => time >= this.killedAt));
  }

  /** What the model was asked in a run with this name. */
  askedBy(name: string): Asked[] {
    return this.model.asked.filter((asked) => nameIn(asked) === name);
  }

  async close(): Promise<void> {
    await this.#worker?.stop();
    this.sink.close();
    this.model.stop();
    for (const folder of [this.storage, this.#builds.next]) rmSync(folder, { recursive: true, force: true });
  }
}

/** The words of the answer to a request, which no other answer has. */
export const wordsOf = ({ number }: Asked): string[] => Array.from({ length: WORDS }, (_, index) => `${number}.${index + 1} `);

const nameIn = ({ body }: Asked): string => contentOf(body.messages.find(({ role }) => role === "user"));

const first = (times: number[]): number | undefined => times.toSorted((one, other) => one - other)[0];

const agents = checked(dirname(fileURLToPath(import.meta.url)));
