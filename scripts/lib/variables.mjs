// The files from which wrangler reads secrets and variables in development, and their changes.
import { existsSync, readFileSync, readdirSync, watch } from "node:fs";
import { inProject, projectDir } from "./paths.mjs";

const FILES = /^\.(?:dev\.vars|env)(?:\.|$)/;

/** A program that saves a file may write it in several pieces. */
const SETTLED_AFTER_MS = 50;

/** Calls `changed` once with the name of the first file of variables whose text changes, is made or removed. Returns a function that ends watching. */
export function whenVariablesChange(changed) {
  const before = texts();
  let timer;
  const look = () => {
    const now = texts();
    const name = [...new Set([...before.keys(), ...now.keys()])].find((known) => before.get(known) !== now.get(known));
    if (name === undefined) return;
    watcher.close();
    changed(name);
  };
  const watcher = watch(projectDir, (_, name) => {
    if (name !== null && !FILES.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(look, SETTLED_AFTER_MS);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

/** The texts of the files of variables by their names. */
function texts() {
  const names = readdirSync(projectDir).filter((name) => FILES.test(name));
  const read = (name) => (existsSync(inProject(name)) ? readFileSync(inProject(name), "utf8") : undefined);
  return new Map(names.map((name) => [name, read(name)]));
}
