// docs/typescript-reference.md says what the types say.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { COMMAND, declarationsOf, markdown, reference, writtenReference } from "./reference.mjs";

test("the reference is what the types say", () => {
  assert.ok(writtenReference() === reference(), `it is stale; to make it anew: ${COMMAND}`);
});

test("every exported declaration has a comment", () => {
  const bare = reference().split(/^### /m).slice(1).filter((section) => !/```\n\n(?!\| member)\S/.test(section));
  assert.deepEqual(bare.map((section) => section.split("\n")[0]), []);
});

test("declarations are read with their comments, members and overloads, without what is internal", () => {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-types-"));
  const file = join(folder, "index.d.ts");
  writeFileSync(file, `
    import type { X } from "nowhere";
    /** One. */
    export declare function f(a: string): void;
    export declare function f(a: number | string, o?: { /** Within. */ b: X }): void;
    interface Hidden { a: string }
    /** @internal */
    export interface Inner { a: string }
    /** Two, see {@link f}. */
    export interface Outer<T> extends Hidden {
      /** A member.
       *
       * @throws {Error} always */
      m<A>(a: A): void;
      m(): void;
      /** @internal */
      n: 1;
      o?: T;
    }
  `);
  const [[f, outer, ...others]] = declarationsOf([file]);
  rmSync(folder, { recursive: true });
  assert.deepEqual(others, []);
  assert.deepEqual([f.name, f.kind, f.comment, f.texts], ["f", "function", "One.", ["function f(a: string): void;", "function f(a: number | string, o?: { b: X }): void;"]]);
  assert.deepEqual([outer.text, outer.comment], ["interface Outer<T> extends Hidden", "Two, see `f`."]);
  assert.deepEqual(outer.members.map(({ texts, comment }) => [texts, comment]), [[["m<A>(a: A): void", "m(): void"], "A member.\n\n- throws: always"], [["o?: T"], ""]]);
});

test("comments become Markdown", () => {
  assert.equal(markdown("/**\n * Says it.\n *\n * @param {string} name - of whom\n * @returns the text\n */"), "Says it.\n\n- `name`: of whom\n- gives: the text");
});
