// `node tests/docs/reference.mjs`: writes docs/typescript-reference.md from the types that authors import.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SyntaxKind } from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";
import { wrapped } from "../../scripts/lib/wrap.mjs";
import { root } from "./markdown.mjs";

export const PAGE = "docs/typescript-reference.md";
export const COMMAND = "node tests/docs/reference.mjs";

/** What authors import, with what it is for, and where its types are. */
const MODULES = [
  { name: "a2a-edge", file: "js/index.d.ts" },
  { name: "a2a-edge/sdk", file: "js/sdk.d.ts" },
  { name: "a2a-edge/verbs", file: "js/verbs.d.ts" },
  { name: "a2a-edge/testing", file: "js/testing/index.d.ts" },
];

const HEAD = `# TypeScript: reference

<!-- Do not edit: \`${COMMAND}\` makes this page from the types. -->

All that the package exports for authors in TypeScript, with its types, as an editor shows them.
[TypeScript](typescript.md) says how they are used.
`;

/** The page as it should be. */
export function reference() {
  const sections = declarationsOf(MODULES.map(({ file }) => join(root, file))).map((declarations, index) => {
    const { name, file } = MODULES[index];
    if (declarations.length === 0) throw new Error(`${file} exports nothing`);
    return `## \`${name}\`\n\n${declarations.map(shown).join("\n\n")}\n`;
  });
  return wrapped([HEAD, ...sections].join("\n"));
}

/**
 * The exported declarations of each file, in their order: \`name\`, \`kind\`, \`text\` (the declaration without comments), \`comment\` (as Markdown), and of
 * interfaces and classes the \`members\`, each with \`text\` and \`comment\`.
 */
export function declarationsOf(files) {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-types-"));
  const config = join(folder, "tsconfig.json");
  // Only the syntax is read, so nothing that the files import is needed.
  writeFileSync(config, JSON.stringify({ compilerOptions: { noLib: true, noResolve: true, types: [] }, files }));
  const api = new API();
  try {
    const [project] = api.updateSnapshot({ openProject: config }).getProjects();
    return files.map((file) => {
      const source = project.program.getSourceFile(file);
      if (source === undefined) throw new Error(`${file} cannot be read`);
      return joined(source.statements.filter(isPublic).map((statement) => declarationOf(statement, source)));
    });
  } finally {
    api.close();
    rmSync(folder, { recursive: true });
  }
}

const isPublic = (statement) => statement.modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword) && !/@internal\b/.test(rawComment(statement));

const KINDS = new Map([
  [SyntaxKind.FunctionDeclaration, "function"], [SyntaxKind.InterfaceDeclaration, "interface"], [SyntaxKind.ClassDeclaration, "class"],
  [SyntaxKind.TypeAliasDeclaration, "type"], [SyntaxKind.VariableStatement, "const"],
]);

function declarationOf(statement, source) {
  const kind = KINDS.get(statement.kind);
  if (kind === undefined) throw new Error(`what is this for readers? ${statement.getText(source).slice(0, 80)}`);
  const text = statement.getText(source).replace(/^export (?:declare )?/, "");
  const name = statement.name?.text ?? /^const (\w+)/.exec(text)?.[1];
  const comment = markdown(rawComment(statement));
  if (kind !== "interface" && kind !== "class") return { name, kind, text: withoutComments(text), comment };
  const members = statement.members.filter((member) => !/@internal\b/.test(rawComment(member)))
    .map((member) => ({ text: oneLine(withoutComments(member.getText(source))).replace(/;$/, ""), comment: markdown(rawComment(member)) }));
  return { name, kind, text: oneLine(withoutComments(text.slice(0, text.indexOf("{")))), comment, members: joined(members) };
}

/** Overloads follow each other, and often the first alone has a comment: they are one declaration. */
function joined(declarations) {
  const nameOf = ({ name, text }) => name ?? /^(?:readonly )?(\w+)/.exec(text)?.[1];
  const isCallable = ({ kind, text }) => kind === "function" || (kind === undefined && /^\w+[<(]/.test(text));
  return declarations.reduce((all, one) => {
    const last = all.at(-1);
    if (last === undefined || !isCallable(one) || !isCallable(last) || nameOf(last) !== nameOf(one)) return [...all, { ...one, texts: [one.text] }];
    const comment = [last.comment, one.comment].filter(Boolean).join("\n\n");
    return [...all.slice(0, -1), { ...last, comment, texts: [...last.texts, one.text] }];
  }, []);
}

// A comment of another kind may stand before it, as part of its text.
const rawComment = (node) => /\/\*\*[^]*$/.exec(node.jsDoc?.at(-1)?.getText() ?? "")?.[0] ?? "";
const withoutComments = (text) => text.replace(/\/\*\*[^]*?\*\/\s*/g, "").replace(/^\s*\/\/.*\n/gm, "").trim();
const oneLine = (text) => text.replace(/\s*\n\s*/g, " ").trim();

/** A comment of JSDoc as Markdown: parameters are a list, and links are names. */
export function markdown(comment) {
  const lines = comment.replace(/^\/\*\*\s*|\s*\*\/$/g, "").split("\n").map((line) => line.replace(/^\s*\* ?/, ""));
  return lines.join("\n")
    .replace(/\{@link(?:code|plain)? ([^}|\s]+)(?:[|\s]+([^}]*))?\}/g, (_, target, said) => said ?? `\`${target}\``)
    .replace(/^@param (?:\{[^}]*\} )?(\[?[\w.]+\]?)(?: -)? */gm, "- `$1`: ")
    .replace(/^@returns? */gm, "- gives: ")
    .replace(/^@throws (?:\{[^}]*\} )?/gm, "- throws: ")
    .replace(/^@(?:example|default|see)\b */gm, "")
    .trim();
}

function shown({ name, kind, texts, comment, members }) {
  const code = `\`\`\`ts\n${texts.map((text) => (members ? `${text.trim()} { … }` : text)).join("\n")}\n\`\`\``;
  const rows = (members ?? []).map(({ texts: of, comment: said }) => `| ${of.map(cell).join("<br>")} | ${said.replaceAll("|", "\\|").replace(/\n\n/g, "<br>").replace(/\n/g, " ")} |`);
  const table = rows.length === 0 ? [] : [`| member | |\n|---|---|\n${rows.join("\n")}`];
  return [`### ${kind === "function" ? `\`${name}()\`` : `\`${name}\``}`, code, ...(comment === "" ? [] : [comment]), ...table].join("\n\n");
}

const cell = (text) => `\`${text.replaceAll("|", "\\|")}\``;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(join(root, PAGE), reference());

/** The page as it is. */
export const writtenReference = () => readFileSync(join(root, PAGE), "utf8");
