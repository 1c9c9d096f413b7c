// Calls of Rust that may panic (src/panic.rs). A panic stops the WebAssembly code by an exception, like every other fault of it (a stack that is
// too deep, memory that is used up). The frames of the stopped call are gone then, but not the memory that they had on the stack of Rust.

/**
 * The instance of the engine's module.
 *
 * @typedef {object} Instance
 * @property {() => { value: number }} stackPointer The top of the stack of Rust, which is in the memory of the instance.
 * @property {() => boolean} isBroken Whether a panic occurred while a value of the instance was changed.
 * @property {() => void} catchPanics Has Rust make the calls that may panic by `attempt`, and each panic call `report`.
 */

/** @type {Instance} */
let instance;

/** The top of the stack while no call is under way. */
let base = 0;

/** Whether a call was stopped since `recover` was called. */
let isStopped = false;

/** Whether the message of the newest panic was written to the log. */
let isReported = false;

/** Takes the instance, when no call is under way. @param {Instance} given */
export function giveInstance(given) {
  instance = given;
  base = given.stackPointer().value;
  given.catchPanics();
}

/** Calls a function of Rust; returns false if it was stopped. @param {() => void} call */
export function attempt(call) {
  const stack = instance.stackPointer();
  const top = stack.value;
  try {
    call();
    return true;
  } catch (error) {
    stack.value = top;
    noteStop(error);
    return false;
  }
}

/** Writes the message of a panic to the log. @param {string} message */
export function report(message) {
  isReported = isStopped = true;
  console.error(`${message}\n\nStack:\n\n${new Error().stack}`);
}

/** Notes an error that has left a call of Rust, and writes it to the log; returns true if it has stopped the call. @param {unknown} error */
export function noteStop(error) {
  if (!isReported) console.error(error instanceof Error ? error.stack : String(error));
  isReported = false;
  const stops = error instanceof RangeError || (error instanceof Error && error.name === "RuntimeError");
  isStopped ||= stops;
  return stops;
}

/**
 * Restarts a Durable Object after a panic: its memory is dropped, and its next event creates it again. The platform rejects its calls that are under way, and
 * ends the code that restarts it, with what that code has begun for others (microtasks that poll the futures of other objects). So it is restarted by
 * code that does nothing else.
 *
 * @param {{ abort: (reason: string) => void }} context The state of the object.
 */
export function restart(context) {
  setTimeout(() => context.abort("the object is restarted after a panic"), 0);
}

/**
 * Prepares the instance for an event of the platform, when no call is under way. Returns false if the instance has to be replaced: a stopped call was
 * changing a value that other requests need.
 */
export function recover() {
  if (!isStopped) return true;
  isStopped = false;
  instance.stackPointer().value = base;
  return !instance.isBroken();
}
