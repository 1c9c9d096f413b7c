// Saved views: what is stored, what is refused, and what is left of a stored text that anything may have written.
import "./page.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { isSame, MAX_NAME, read, removeView, saveView, viewOf, views } from "../../console/src/find/views.ts";

test("a view keeps the filters that are set, replaces one of its name, and is removed", () => {
  const failed = viewOf(" Failed ", { agent: "demo", state: "TASK_STATE_FAILED", context: "", nonsense: "x" });
  assert.deepEqual(failed.query, { agent: "demo", state: "TASK_STATE_FAILED" });
  assert.equal(saveView(failed), undefined);
  assert.equal(saveView(viewOf("All", {})), undefined);
  assert.deepEqual(views.value.map(({ name }) => name), ["All", "Failed"]);
  assert.equal(saveView(viewOf("Failed", { text: "x" })), undefined);
  assert.deepEqual(read(localStorage.getItem("a2a-edge.views")), [{ name: "All", query: {} }, { name: "Failed", query: { text: "x" } }]);
  assert.ok(isSame(viewOf("one", { text: "x", agent: "" }), views.value[1]!));
  assert.ok(!isSame(viewOf("one", { text: "y" }), views.value[1]!));
  removeView("Failed");
  removeView("All");
  assert.deepEqual(views.value, []);
});

test("names and filters have a limit, and so has their number", () => {
  assert.match(saveView(viewOf(" ", {})) ?? "", /1 to 40 letters/);
  assert.match(saveView(viewOf("x".repeat(MAX_NAME + 1), {})) ?? "", /1 to 40 letters/);
  assert.match(saveView(viewOf("long", { text: "x".repeat(201) })) ?? "", /at most 200/);
  for (let count = 0; count < 20; count++) assert.equal(saveView(viewOf(`view ${count}`, {})), undefined);
  assert.match(saveView(viewOf("one more", {})) ?? "", /20 views, which is the limit/);
  assert.equal(saveView(viewOf("view 3", { agent: "demo" })), undefined, "one that is there may be replaced");
  const { setItem } = localStorage;
  localStorage.setItem = () => {
    throw new Error("full");
  };
  assert.match(saveView(viewOf("view 4", { agent: "demo" })) ?? "", /does not keep it/);
  assert.deepEqual(views.value.find(({ name }) => name === "view 4")?.query, {}, "what is not kept is not shown");
  localStorage.setItem = setItem;
});

test("of a stored text, what is no view is left out", () => {
  for (const text of [null, "", "{", "null", "7", '"x"', "{}", "[null, 1, [], {}]", '[{"name":"x"}]', '[{"name":7,"query":{}}]', '[{"name":"x","query":{"agent":7}}]', '[{"name":"x","query":null}]']) {
    assert.deepEqual(read(text), [], String(text));
  }
  const hostile = JSON.stringify([{ name: "a", query: { agent: "x", evil: "javascript:alert(1)", __proto__: { state: "x" } }, more: "x".repeat(1e6) }, { name: "a", query: {} }]);
  assert.deepEqual(read(hostile), [{ name: "a", query: {} }]);
  assert.equal(read(JSON.stringify(Array.from({ length: 500 }, (_, nth) => ({ name: String(nth), query: {} })))).length, 20);
});
