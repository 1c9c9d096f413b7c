// Plays the scenes against a built Worker of tests/probes, kills it, and keeps what it has stored and sent.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startWorker } from "../e2e/harness.ts";
import { Sink } from "../e2e/sink.ts";
import { writeFixture, type Recorded } from "./fixture.ts";
import { modelVars, openModel, play, sceneVars } from "./scenes.ts";
import { wrapBuild } from "./wrapped.ts";

/** Makes the fixture of the build folder `build` in `folder`, in place of what is there. */
export async function record(build: string, folder: string): Promise<void> {
  const wrapped = await wrapBuild(build, "recorder.js");
  const storage = mkdtempSync(join(tmpdir(), "a2a-edge-fixture-"));
  const sink = await Sink.open();
  const model = await openModel();
  const worker = await startWorker({ build: wrapped, persist: storage, vars: { ...sceneVars, ...modelVars(model) } });
  try {
    const answers = await play(worker, sink);
    // Rows of the index, and the note that they are written, may come after the answers.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await worker.kill9();
    inDatabase(storage, "DROP TRIGGER refused; DROP TRIGGER uncounted");
    const names = new Map(Object.entries(answers.tasks).map(([scene, { task }]) => [task.id, scene]));
    const recorded = recordedIn(worker.logs.map(({ message }) => message));
    writeFixture(folder, storage, sink.url, names, answers, distinct(recorded));
  } finally {
    await worker.stop();
    sink.close();
    model.stop();
    for (const temporary of [storage, wrapped]) rmSync(temporary, { recursive: true, force: true });
  }
}

/** Carries a statement out in the D1 database of a storage folder. */
function inDatabase(storage: string, statement: string): void {
  const folder = join(storage, "d1");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const file = files.find((file) => file.endsWith(".sqlite") && !file.endsWith("metadata.sqlite"));
  const database = new DatabaseSync(join(folder, file ?? ""));
  database.exec(statement);
  database.close();
}

function recordedIn(lines: string[]): Recorded[] {
  const recorded = lines.filter((line) => line.startsWith("recorded "));
  return recorded.map((line) => JSON.parse(line.slice("recorded ".length)) as Recorded);
}

/** One of each kind and form: what differs in its values only is left out. */
function distinct(recorded: Recorded[]): Recorded[] {
  const formOf = ({ kind, text }: Recorded): string => {
    if (kind === "frame") return text.split("\n").map((line) => line.slice(0, 12).replaceAll(/\d+/g, "0")).join(" ");
    if (kind === "job") return text;
    return `${kind} ${JSON.stringify(JSON.parse(text), (name, value: unknown) => (typeof value === "object" ? value : `${name} ${typeof value}`))}`;
  };
  return [...new Map(recorded.map((line) => [formOf(line), line])).values()].sort((a, b) => a.kind.localeCompare(b.kind));
}
