// The paths of the repository that documents and comments name, and whether they exist.
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Folders that builds and package managers write: nothing in them is part of the repository. */
const GENERATED = /^(?:node_modules|target|build|build-.*|release|__pycache__|\..*)$/;

/** Folders of the same kind that have these names at the top alone. */
const GENERATED_AT_THE_TOP = /^(?:package|release|schemas)$/;

/** A word with the letters of paths alone. `<kind>` and `NAME` stand for any name. */
const WORD = /^(?:[\w.*/-]|<\w+>|\{[\w.,-]+\})+$/;
const PLACEHOLDER = /<\w+>|\bNAME\b/g;

/** The endings by which a name without a folder is a file of the repository. */
const SOURCE = /[^/]\.(?:rs|mjs|js|ts|tsx|py|sql|md|toml)$/;

/** All files and folders below `root`: each with a slash before it, folders with another one behind. */
export function pathsBelow(root) {
  const below = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).filter(({ name }) => !isGenerated(name, folder === "")).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? [`${path}/`, ...below(path)] : [path];
    });
  return below("");
}

const isGenerated = (name, isAtTheTop) => GENERATED.test(name) || (isAtTheTop && GENERATED_AT_THE_TOP.test(name));

/** The repository as the functions below need it: its paths, and the names of its top folders. */
export function treeOf(paths) {
  return { paths, tops: new Set(paths.map((path) => /^\/([^/]+)\/$/.exec(path)?.[1]).filter(Boolean)) };
}

/**
 * The paths that a text names, each with its line: words in backticks, and in blocks of plain text, that begin with a top folder, end like a source
 * file, or end with a slash. What begins with a slash is a route, with `@` a package, with a dot a hidden file. `home` is where a file without a folder has to be:
 * in a row of a table whose first cell names folders, below one of these.
 */
export function pathsIn(text, tree) {
  let fence;
  return text.split("\n").flatMap((line, index) => {
    const mark = /^\s*```(\w*)/.exec(line);
    if (mark) {
      fence = fence === undefined ? mark[1] : undefined;
      return [];
    }
    // Blocks of code are tried by other tests.
    if (fence !== undefined && fence !== "text") return [];
    const inPlainText = fence === "text";
    const found = (part) => wordsOf(part, inPlainText).filter((word) => isPath(word, tree.tops, inPlainText));
    const [, first] = /^\| (`.*?) \|/.exec(line) ?? [];
    const folders = first === undefined ? [] : found(first).filter((path) => path.endsWith("/"));
    return found(line).map((path) => ({ line: index + 1, path, home: /\/./.test(path) || folders.includes(path) ? [] : folders }));
  });
}

function wordsOf(line, inPlainText) {
  const spans = inPlainText ? [line] : [...line.matchAll(/`([^`]+)`/g)].map(([, span]) => span);
  return spans.flatMap((span) => span.split(/\s+/)).map((word) => word.replace(/[,;:]$|:\d+(?:-\d+)?$/g, ""));
}

function isPath(word, tops, inPlainText) {
  if (!WORD.test(word) || /^[/.<]/.test(word)) return false;
  const [first, ...rest] = word.split("/");
  if (isGenerated(first, true)) return false;
  return (rest.length > 0 && tops.has(first)) || SOURCE.test(word) || (!inPlainText && word.endsWith("/"));
}

/**
 * Whether the repository has a path, as it is or as the end of a longer one (`session/index.rs`). `*` matches a name or a part of it, `**` several names; of
 * `{a,b}` both must exist.
 */
export function exists({ path, home = [] }, { paths }) {
  return alternatives(path).every((one) => {
    const pattern = one.replace(PLACEHOLDER, "*").replace(/[.+^$()|[\]\\]/g, "\\$&").replace(/\*+/g, (stars) => (stars === "*" ? "[^/]*" : ".*"));
    // A folder may be named without the slash at its end.
    const named = new RegExp(`/${pattern}/?$`);
    return paths.some((candidate) => named.test(candidate) && (home.length === 0 || home.some((folder) => candidate.includes(`/${folder}`))));
  });
}

function alternatives(path) {
  const braces = /\{([^}]*)\}/.exec(path);
  return braces === null ? [path] : braces[1].split(",").flatMap((name) => alternatives(path.replace(braces[0], name)));
}
