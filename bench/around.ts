// Wraps the exports of a bundled Worker with a module of this folder.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./workers.ts";

/**
 * Appends `file` to the bundle. Its functions `front` and `object` are called with the Worker's handlers and the class of its
 * task objects, and return the new exports.
 */
export function around(bundle: string, file: string, front: string, object: string): string {
  const [list, names = ""] = /export\s*\{([^{}]*)\};?\s*$/.exec(bundle) ?? [];
  const local = (exported: string): string => {
    const name = new RegExp(`([\\w$]+) as ${exported}\\b`).exec(names)?.[1];
    if (name === undefined) throw new Error(`the bundle does not export ${exported} as it used to`);
    return name;
  };
  if (list === undefined) throw new Error("the bundle does not end with its exports");
  return [
    bundle.slice(0, -list.length),
    readFileSync(join(root, "bench", file), "utf8"),
    `export const TaskObject = ${object}(${local("TaskObject")});`,
    `export default ${front}(${local("default")});`,
  ].join("\n");
}
