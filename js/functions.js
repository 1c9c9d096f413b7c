// The functions of the project, as the entry module of the Worker passes them to the engine, for Rust (src/edge/functions.rs).

/** @typedef {import("./engine.d.ts").Functions} Functions */

/** @type {Functions | undefined} */
let given;
let newest = 0;

/** Takes the functions of the project. @param {Functions} [functions] */
export function giveFunctions(functions) {
  given = functions;
}

/** Whether the project has functions. */
export const hasFunctions = () => given !== undefined;

/** @returns {Functions} */
function functions() {
  if (given === undefined) throw new Error("the entry module has passed no functions to the engine");
  return given;
}

/** The description of the functions: JSON. Throws what the author has to change. */
export const describe = () => functions().describe();

/** @param {string} kind @param {string} settings */
export const checkSettings = (kind, settings) => functions().checkSettings(kind, settings);

/** @param {string} kind @param {number} run @param {string} turn @param {string} settings */
export const execute = (kind, run, turn, settings) => functions().execute(kind, run, turn, settings);

/** @param {string} kind @param {number} run @param {string} turn @param {string} settings */
export const cancel = (kind, run, turn, settings) => functions().cancel(kind, run, turn, settings);

/** @param {string} name @param {number} run @param {string} args @param {string} call */
export const callTool = (name, run, args, call) => functions().callTool(name, run, args, call);

/** @param {number} run @param {string} why */
export const over = (run, why) => functions().over(run, why);

/** The number of the next run. A number is not used again, also not by an instance of the module that replaces an aborted one. */
export const nextRun = () => (newest = (newest + 1) >>> 0);
