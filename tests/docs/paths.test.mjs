// Paths of the repository that documents and the headers of source files name exist.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blocksOf, root } from "./markdown.mjs";
import { exists, pathsBelow, pathsIn, treeOf } from "./paths.mjs";

const tree = treeOf(pathsBelow(root));
const PAGES = /^\/(?:(?:README|ARCHITECTURE|STORAGE|CONTRIBUTING)\.md|docs\/[^/]+\.md|tests\/.*\/README\.md)$/;
const SOURCES = /^\/(?:src|crates\/\w+\/src)\/.*\.rs$/;

/** Files of a project that uses a2a-edge, or of a release, and modules of other packages, which the repository does not have, or not there. */
const ELSEWHERE = new Set(["remotes.toml", "NOTES.md", "agents/tasks", "agents/streams", "worker-configuration.d.ts"]);

const read = (path) => readFileSync(join(root, path), "utf8");
const matching = (pattern) => tree.paths.filter((path) => pattern.test(path)).map((path) => path.slice(1));

/** The files that a page tells its reader to write: those that the first line of a block names, as `# agents/places.toml`. */
const writtenBy = (page, text) => blocksOf(page, text).map(({ text: code }) => /^(?:#|\/\/) (\S+)/.exec(code)?.[1]);

function missing(page, text, repository = tree) {
  const known = new Set([...ELSEWHERE, ...(page.endsWith(".md") ? writtenBy(page, text) : [])]);
  const gone = pathsIn(text, repository).filter((named) => !known.has(named.path) && !exists(named, repository));
  return gone.map(({ line, path, home }) => `${page}:${line}: ${path}${home.length > 0 ? ` in ${home.join(", ")}` : ""}`);
}

/** The header of a source file; its other lines are left empty. */
const headerOf = (text) => text.split("\n").map((line) => (line.startsWith("//!") ? line.slice(3) : "")).join("\n");

for (const page of matching(PAGES)) {
  test(`the paths that ${page} names exist`, () => assert.deepEqual(missing(page, read(page)), []));
}

test("the paths that headers of source files name exist", () => {
  const sources = matching(SOURCES);
  assert.ok(sources.length > 300, "src/ and crates/ are read");
  assert.deepEqual(sources.flatMap((path) => missing(path, headerOf(read(path)))), []);
});

test("a wrong path is noticed, with its line", () => {
  const small = treeOf(["/src/", "/src/session/", "/src/session/index.rs", "/src/session/run.rs", "/src/task/", "/src/task/log.rs", "/tests/", "/tests/e2e/", "/tests/e2e/card.spec.ts"]);
  const right = ["src/session/index.rs", "session/index.rs", "index.rs", "src/session/", "src/session", "task/", "src/session/{index,run}.rs", "tests/e2e/*.spec.ts", "src/**/*.rs",
    "src/<part>/run.rs", "src/session/NAME.rs", "src/task/log.rs:12", "node --test tests/e2e/card.spec.ts"];
  const wrong = ["src/session/gone.rs", "session/log.rs", "gone.rs", "dex.rs", "src/gone/", "src/gone", "gone/", "src/session/{index,gone}.rs", "tests/e2e/*.rs", "src/<part>/gone.rs",
    "src/session/gone.rs:12", "node --test tests/e2e/gone.spec.ts", "indexxrs.rs"];
  const others = ["/tasks/gone.md", "tasks/send", "text/plain", "@a2a/gone", ".dev.toml", "build/gone/", "https://example.com/gone.js", "a.b()", "remotes.toml", "session::gone"];
  for (const path of [...right, ...others]) assert.deepEqual(missing("a.md", `\n\`${path}\``, small), [], path);
  for (const path of wrong) assert.equal(missing("a.md", `\n\`${path}\``, small).length, 1, path);
  assert.deepEqual(missing("a.md", "\n`src/x.rs`, `y.rs:3`", small), ["a.md:2: src/x.rs", "a.md:2: y.rs"]);
});

test("a file in a row of a folder is looked for in that folder", () => {
  const small = treeOf(["/src/", "/src/session/", "/src/session/index.rs", "/src/task/", "/src/task/log.rs"]);
  assert.deepEqual(missing("a.md", "| `src/session/` | `index.rs`, `task/log.rs` |", small), []);
  assert.deepEqual(missing("a.md", "| `src/task/`, `src/session/` | `index.rs`, `log.rs` |", small), []);
  assert.deepEqual(missing("a.md", "| `src/session/` | `log.rs` |", small), ["a.md:1: log.rs in src/session/"]);
});

test("blocks of plain text are read, and blocks of code but for the files that they show", () => {
  const small = treeOf(["/src/", "/src/lib.rs", "/agents/"]);
  assert.deepEqual(missing("a.md", "```text\n1 route   route.rs  tasks/\n```", small), ["a.md:2: route.rs"]);
  assert.deepEqual(missing("a.md", "```sh\nrm src/gone.rs `src/gone.rs`\n```\n`agents/mine.toml`\n", small), ["a.md:4: agents/mine.toml"]);
  assert.deepEqual(missing("a.md", "Write `agents/mine.toml`:\n```toml\n# agents/mine.toml\nname = 1\n```\n", small), []);
});
