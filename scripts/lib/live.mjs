// Gives the running Worker the agents as their files are saved. Files are checked in this process: while they contain a mistake, the Worker goes on
// with the last agents without one.
import { existsSync, readdirSync, statSync, watch } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isSame, writeAgents } from "./agents.mjs";
import { askWorker, giveAgents, toldUnusable } from "./dev-agents.mjs";
import { projectDir } from "./paths.mjs";
import { Stop, say } from "./ui.mjs";

/** A save is several events: of a file that is written in pieces, or that an editor renames. */
const SETTLED_AFTER_MS = 25;

/** A file with a mistake may be one that is still being written, so it is checked once more before the mistake is told. */
const AGAIN_AFTER_MS = 60;

/** The folders of agents, tools and skills. Everything below them is watched, also what has not been read yet because of a mistake. */
const PLACES = ["agents", "tools", "skills"];

export class LiveAgents {
  #agents;
  #read;
  #given;
  #worker;
  #watchers = new Map();
  /** The paths that have changed since the last look, and the time of the first change. */
  #changed = new Set();
  #since;
  /** The names of the changed files of which nothing has been said yet, and the time of the first change. */
  #untold;
  #timer;
  #work = Promise.resolve();
  #mistake;

  /** `found` is the result of `writeAgents`: the agents with which the Worker starts. */
  constructor(found) {
    this.#agents = found.agents;
    this.#read = found.read;
    this.#watch();
  }

  /**
   * From now on the Worker that serves is that at `url`: it was started, or its code has changed. It has the agents of the moment at which wrangler
   * bundled it, which may not be the last ones, so it is given these. Settles when it has them.
   */
  served(url, token) {
    this.#worker = { url, token };
    this.#given = undefined;
    // The entry may register for the first time now, or not any more, what the files name.
    this.#work = this.#work.then(() => this.#look(false)).then(() => this.#give());
    return this.#work;
  }

  /** No Worker serves for a while. */
  over() {
    this.#worker = undefined;
  }

  close() {
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Watches the folders of everything that is read. Folders, not files: an editor that renames replaces the file. */
  #watch() {
    const read = this.#read.map((path) => (isFolder(path) ? path : dirname(path)));
    const folders = new Set([".", ...PLACES.flatMap(foldersIn), ...read].filter(isFolder).map((path) => join(projectDir, path)));
    for (const [folder, { watcher, id }] of this.#watchers) {
      if (folders.has(folder) && id === idOf(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue;
      const watcher = watch(folder, (_, name) => this.#note(name === null ? folder : join(folder, name)));
      watcher.on("error", () => this.#note(folder));
      this.#watchers.set(folder, { watcher, id: idOf(folder) });
    }
  }

  #note(path) {
    this.#since ??= Date.now();
    this.#changed.add(relative(projectDir, path));
    this.#soon(SETTLED_AFTER_MS);
  }

  #soon(ms, again = false) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#work = this.#work.then(() => this.#look(again));
    }, ms);
  }

  async #look(again) {
    const { changed, since } = this.#taken();
    try {
      const { agents, read } = writeAgents();
      // Other files of the folders, such as an editor's own, are of no interest.
      const names = changed.filter((path) => read.includes(path) || this.#read.includes(path));
      const isChanged = !isSame(agents, this.#agents);
      // A look that no event has asked for may read a file ahead of the event that names it.
      if (isChanged && names.length === 0 && !again) {
        this.#since = since;
        return this.#soon(SETTLED_AFTER_MS, true);
      }
      this.#read = read;
      this.#watch();
      const wasMistaken = this.#mistake !== undefined;
      this.#mistake = undefined;
      if (isChanged) {
        this.#agents = agents;
        this.#untold ??= { names: new Set(), since };
        for (const name of names.length > 0 ? names : ["the agents"]) this.#untold.names.add(name);
        await this.#give();
      } else if (wasMistaken) {
        say("The files are as they were before the mistake.");
      }
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      this.#watch();
      if (!again) {
        for (const path of changed) this.#changed.add(path);
        this.#since = since;
        return this.#soon(AGAIN_AFTER_MS, true);
      }
      if (error.message !== this.#mistake) say(`\n${error.message}\n\nThe agents of before are served until that is mended.\n`);
      this.#mistake = error.message;
    }
  }

  /** The paths that have changed since the last look, and when the first of them has. */
  #taken() {
    const taken = { changed: [...this.#changed], since: this.#since ?? Date.now() };
    this.#changed.clear();
    this.#since = undefined;
    return taken;
  }

  /** Gives the Worker the agents, unless it has them, and says so if files have changed. */
  async #give() {
    if (this.#worker === undefined || this.#given === this.#agents) return;
    const { agents, worker } = { agents: this.#agents, worker: this.#worker };
    const problem = await giveAgents(worker.url, worker.token, agents);
    // wrangler has replaced the Worker meanwhile: the new one is given them.
    if (worker !== this.#worker) return;
    if (problem === undefined) this.#given = agents;
    if (this.#untold === undefined) return;
    const { names, since } = this.#untold;
    this.#untold = undefined;
    const list = [...names].sort().join(", ");
    say(problem === undefined ? `${list}: live after ${Date.now() - since} ms` : `${list}: the Worker did not take the change, ${problem}`);
    const told = problem === undefined ? await askWorker(worker.url, worker.token) : undefined;
    const text = told && toldUnusable(told);
    if (text) say(`\n${text}\n`);
  }
}

/** A folder with all folders below it. */
function foldersIn(path) {
  if (!isFolder(path)) return [];
  const below = readdirSync(join(projectDir, path), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [path, ...below.flatMap(({ name }) => foldersIn(join(path, name)))];
}

const isFolder = (path) => existsSync(join(projectDir, path)) && statSync(join(projectDir, path)).isDirectory();

/** Another folder may take the place of one that is watched. */
const idOf = (folder) => (existsSync(folder) ? statSync(folder).ino : undefined);
