// Reads a manifest of ACTS and the files that it includes (ACTS §2, §12.1), from YAML or JSON.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { isMap, type Document, type Members, type Suite, type Test } from "./document.ts";
import { repair } from "./repair.ts";
import { problemsOf } from "./validate.ts";

/** A suite as it was read. */
export interface Loaded {
  documents: Document[];
  /** What is wrong with tests that cannot be run, by their ids. */
  invalid: Map<string, string[]>;
  /** The rules of repair.ts that found something, one entry for each find. */
  repairs: string[];
}

/** Reads a manifest and all that it includes. Throws for a file that is no document of ACTS 1, and for an id that two tests have. */
export function load(manifest: string): Loaded {
  const loaded: Loaded = { documents: [], invalid: new Map(), repairs: [] };
  read(manifest, {}, loaded);
  const ids = loaded.documents.flatMap(({ suites }) => suites.flatMap(({ tests }) => tests.map(({ id }) => id)));
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length > 0) throw new Error(`several tests have the id ${twice.join(", ")}`);
  return loaded;
}

function read(path: string, inherited: Record<string, string>, loaded: Loaded): void {
  const wrong = (what: string): Error => new Error(`${path} ${what}`);
  // YAML 1.2 contains JSON.
  const document: unknown = parse(readFileSync(path, "utf8"));
  if (!isMap(document)) throw wrong("is no document of ACTS");
  const version = String(document["acts_version"]);
  if (!/^1(\.\d+)*$/.test(version)) throw wrong(`has acts_version ${version}; this runner knows 1.x (ACTS §17)`);
  const { spec_version: specVersion, include = [], suites } = document;
  if (typeof specVersion !== "string") throw wrong("has no spec_version");
  if (suites === undefined && document["include"] === undefined) throw wrong("has neither suites nor include");
  const variables = { ...inherited, ...((document["variables"] ?? {}) as Record<string, string>) };
  for (const file of include as string[]) read(join(dirname(path), file), variables, loaded);
  if (suites !== undefined) loaded.documents.push({ file: path, specVersion, variables, suites: (suites as Members[]).map((suite) => suiteOf(suite, loaded)) });
}

function suiteOf({ id, name, tags = [], tests = [] }: Members, { invalid, repairs }: Loaded): Suite {
  const read = (tests as Members[]).map((test) => {
    repairs.push(...repair(test));
    const problems = problemsOf(test);
    if (problems.length > 0) invalid.set(String(test["id"]), problems);
    return { ...test, tags: [...(tags as string[]), ...((test["tags"] ?? []) as string[])] } as unknown as Test;
  });
  return { id: String(id), name: String(name), tests: read };
}
