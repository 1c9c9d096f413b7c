// What authors define: tools and executors, and whether a Worker can register them.
import { checkKindName, checkToolName } from "./names.js";
import { readSchema, standardOf } from "./schemas.js";

/** The mark of tools that `tool` has made. Others follow the rules of the AI SDK. */
const IS_TOOL = Symbol.for("a2a-edge.tool");

const RECOVERIES = ["resume", "restart", "fail"];

/** @type {typeof import("../index.d.ts").tool} */
export const tool = (definition) => /** @type {any} */ ({ ...definition, [IS_TOOL]: true });

/** @type {typeof import("../index.d.ts").executor} */
export const executor = (definition) => /** @type {any} */ ({ ...definition });

/**
 * A tool that is checked.
 *
 * @typedef {{ description: string, needs: readonly string[], schema: import("./schemas.js").Checked, isForeign: boolean,
 *   execute(args: any, call: any): unknown }} CheckedTool
 */

/**
 * An executor that is checked.
 *
 * @typedef {{ settings: any, recovery: string, cancels: "never" | "once" | "sure", execute(turn: any): unknown, onCancel(turn:
 *   any): unknown }} CheckedExecutor
 */

/** @param {string} name @param {any} given @returns {CheckedTool} */
export function checkTool(name, given) {
  checkToolName(name);
  const what = `tools.${name}`;
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`${what}: it must be a tool: tool({ description, inputSchema, execute })`);
  }
  const { description, inputSchema, needs = [], needsApproval } = given;
  if (typeof given.execute !== "function") {
    throw new TypeError(`${what}: it has no execute; a tool without one runs elsewhere, and agents cannot call it`);
  }
  if (typeof description !== "string" || description.trim() === "") {
    throw new TypeError(`${what}: it needs a description, a text for models and people`);
  }
  if (needsApproval !== undefined && needsApproval !== false) {
    throw new TypeError(`${what}: needsApproval is not supported; ask the caller in an executor (turn.ask), or leave it out`);
  }
  if (!Array.isArray(needs) || needs.some((name) => typeof name !== "string")) {
    throw new TypeError(`${what}: needs must be a list of names of secrets and variables`);
  }
  const schema = readSchema(inputSchema, what);
  return { description, needs, schema, isForeign: given[IS_TOOL] !== true, execute: (args, call) => given.execute(args, call) };
}

/** @param {string} kind @param {any} given @returns {CheckedExecutor} */
export function checkExecutor(kind, given) {
  checkKindName(kind);
  const what = `executors[${JSON.stringify(kind)}]`;
  if (typeof given?.execute !== "function") {
    throw new TypeError(`${what}: it must be an executor: executor({ execute(turn) { … } })`);
  }
  const { settings, recovery = "resume", onCancel } = given;
  if (settings !== undefined && standardOf(settings) === undefined) {
    throw new TypeError(`${what}: settings must be a Standard Schema, such as z.object({ … }) of zod`);
  }
  if (!RECOVERIES.includes(recovery)) throw new TypeError(`${what}: recovery must be one of ${RECOVERIES.join(", ")}`);
  const { sure, run } = typeof onCancel === "function" || onCancel === undefined ? { sure: false, run: onCancel } : onCancel;
  if (onCancel !== undefined && typeof run !== "function") {
    throw new TypeError(`${what}: onCancel must be a function, or { sure: true, run(turn) { … } }`);
  }
  const cancels = onCancel === undefined ? "never" : sure === true ? "sure" : "once";
  return { settings, recovery, cancels, execute: (turn) => given.execute(turn), onCancel: (turn) => run?.call(onCancel, turn) };
}
