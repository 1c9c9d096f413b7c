// Where the secrets are: at the deployment, which gives no value back, or in the file of variables on this machine.
import { closeSync, existsSync, openSync, readFileSync, realpathSync, renameSync, rmSync, writeSync } from "node:fs";
import { parseEnv } from "node:util";
import { secretsOf, versionsOf } from "../../lib/account.mjs";
import { ASSIGNMENT, IGNORE_IT, configured, isIgnored, namesIn, variableFiles } from "../../lib/needs.mjs";
import { inProject } from "../../lib/paths.mjs";
import { wrangler } from "../../lib/wrangler.mjs";
import { EXIT, Failure } from "../failure.mjs";

/** The secrets of an environment of the deployment. */
export class Deployment {
  title = "the deployment";
  #environment;

  #option;

  constructor(environment) {
    this.#environment = environment;
    this.#option = environment === undefined ? [] : [`--env=${environment}`];
  }

  /** The names that are set, in wrangler.toml too; `isWhole` is false where wrangler cannot list the `secrets` of the deployment. */
  async names() {
    const secrets = await secretsOf(this.#option);
    return { names: new Set([...(await configured(this.#environment)), ...(secrets ?? [])]), secrets: new Set(secrets), isWhole: secrets !== undefined };
  }

  /**
   * The instant since which no secret was changed, in ms since 1970: each change makes a version. Where none of the newest versions is that of a secret, it is the
   * oldest of them. Undefined if wrangler does not tell the versions.
   */
  async unchangedSince() {
    const versions = (await versionsOf(this.#option)) ?? [];
    const { created } = versions.find(({ trigger }) => trigger === "secret") ?? versions.at(-1) ?? {};
    const at = Date.parse(created);
    return Number.isNaN(at) ? undefined : at;
  }

  put(name, value) {
    return this.#run("set", ["put", name], value);
  }

  /** Without a terminal wrangler does not ask. */
  remove(name) {
    return this.#run("deleted", ["delete", name], "");
  }

  async #run(done, [what, name], input) {
    const { code, output } = await wrangler(["secret", what, name, ...this.#option], { quiet: true, input });
    if (code !== 0) throw new Failure(`${name} was not ${done}; wrangler said:\n${output.trim()}`);
  }
}

/** `.dev.vars`, or `.env` where there is no `.dev.vars`. */
export class LocalFile {
  #name = variableFiles()[0] ?? ".dev.vars";

  get title() {
    return this.#name;
  }

  async names() {
    return { names: new Set([...(await configured()), ...namesIn(this.#text())]), isWhole: true };
  }

  /** The value of a name; undefined if it is not set. */
  value(name) {
    return parseEnv(this.#text())[name] || undefined;
  }

  async put(name, value) {
    if (this.value(name)?.includes("\n")) throw this.#severalLines();
    const lines = this.#lines();
    const at = lines.findIndex((line) => ASSIGNMENT.exec(line)?.[1] === name);
    lines.splice(at < 0 ? lines.length : at, at < 0 ? 0 : 1, `${name}='${value}'`);
    this.#write(lines, { ...parseEnv(this.#text()), [name]: value });
  }

  async remove(name) {
    if (this.value(name)?.includes("\n")) throw this.#severalLines();
    const { [name]: _, ...rest } = parseEnv(this.#text());
    this.#write(this.#lines().filter((line) => ASSIGNMENT.exec(line)?.[1] !== name), rest);
  }

  /** What to do so that the file stays out of git; undefined if that is done. */
  get advice() {
    return isIgnored() || this.#name !== ".dev.vars" ? undefined : IGNORE_IT;
  }

  #text() {
    return existsSync(inProject(this.#name)) ? readFileSync(inProject(this.#name), "utf8") : "";
  }

  #lines() {
    const lines = this.#text().split(/\r?\n/);
    return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  }

  #severalLines() {
    return new Failure(`${this.#name} has a value over several lines; change the file by hand.`);
  }

  /** Replaces the file at once, readable for its user alone, if it then says what is expected: a line may belong to the value of another name. */
  #write(lines, expected) {
    const written = lines.map((line) => `${line}\n`).join("");
    const sorted = (values) => JSON.stringify(Object.entries(values).sort());
    if (sorted(parseEnv(written)) !== sorted(expected)) throw this.#severalLines();
    // The file itself, where its name is a link.
    const path = existsSync(inProject(this.#name)) ? realpathSync(inProject(this.#name)) : inProject(this.#name);
    writeNew(`${path}.${process.pid}`, written);
    renameSync(`${path}.${process.pid}`, path);
  }
}

/** Writes a file that must not exist, readable for its user alone. */
export function writeNew(path, written) {
  let handle;
  try {
    handle = openSync(path, "wx", 0o600);
  } catch (error) {
    if (error.code === "EEXIST") throw new Failure(`${path} exists already; name a file that does not.`, EXIT.usage);
    throw new Failure(`${path} cannot be written (${error.code}); name a file in a folder of yours.`, EXIT.usage);
  }
  try {
    writeSync(handle, written);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}
