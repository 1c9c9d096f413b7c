// Single lines of a TOML file are changed, and all others stay.
import assert from "node:assert/strict";
import { test } from "node:test";
import { edited } from "../../scripts/lib/toml-lines.mjs";

const TEXT = `# Settings
name = "a" # mine
flags = [
  "one", # of [two]
  "two",
]

[build]
command = "x"

# Two queues.
[[queues]]
queue = "one"

[[queues]]
queue = "two"
`;

for (const [what, edit, lines, from, to] of [
  ["a key before the first table", { table: "" }, ["name = 1"], 'name = "a" # mine', "name = 1"],
  ["an array of several lines", { table: "" }, ["flags = []"], 'flags = [\n  "one", # of [two]\n  "two",\n]', "flags = []"],
  ["a new key before the first table", { table: "" }, ["main = 1"], '  "two",\n]\n', '  "two",\n]\nmain = 1\n'],
  ["a key of a table", { table: "[build]" }, ["command = 1"], 'command = "x"', "command = 1"],
  ["a new key of a table, above the comment of the next one", { table: "[build]" }, ["watch = 1"], 'command = "x"\n', 'command = "x"\nwatch = 1\n'],
  ["a key of one of several tables", { table: "[[queues]]", whose: 'queue = "one"' }, ["size = 1"], 'queue = "one"\n', 'queue = "one"\nsize = 1\n'],
  ["a key that goes", { table: "", removes: true }, ["name = 1"], 'name = "a" # mine\n', ""],
  ["a new table", { isNew: true }, ["[alias]", "a = 1"], 'queue = "two"\n', 'queue = "two"\n\n[alias]\na = 1\n'],
]) {
  test(`${what} is changed, and nothing else`, () => {
    const wanted = TEXT.replace(from, to);
    assert.notEqual(wanted, TEXT);
    assert.equal(edited(TEXT, edit, lines), wanted);
    const [windows, windowsWanted] = [TEXT, wanted].map((text) => text.replaceAll("\n", "\r\n"));
    assert.equal(edited(windows, edit, lines), windowsWanted, "with the line ends of Windows");
  });
}

test("a place that the file does not have is told", () => {
  assert.equal(edited(TEXT, { table: "[assets]" }, ["a = 1"]), undefined);
  assert.equal(edited(TEXT, { table: "[[queues]]", whose: 'queue = "three"' }, ["a = 1"]), undefined);
  assert.equal(edited(TEXT, { table: "", removes: true }, ["main = 1"]), undefined);
  assert.equal(edited(TEXT, {}, ["a = 1"]), undefined);
});
