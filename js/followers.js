// The sockets of a task's followers, on the side of its object (src/edge/object/followers.rs). A task may have hundreds of sockets: a walk over
// them in JavaScript makes no crossings into WebAssembly.
import { CloseCode, HELLO } from "./client-stream.js";

/**
 * A socket of the platform, which stays open while its object is not in memory.
 *
 * @typedef {object} Socket
 * @property {(text: string) => void} send
 * @property {(code: number, reason: string) => void} close
 * @property {number} [bufferedAmount]
 * @property {(value: unknown) => void} serializeAttachment
 * @property {() => unknown} deserializeAttachment
 */

/** @typedef {{ getWebSockets: () => Socket[], acceptWebSocket: (socket: Socket) => void }} State The platform's state of an object. */

/** The attachment of a socket whose hello has not arrived yet. That of an answered one is the version of its dialect. */
const UNTOLD = false;

/** The largest number of bytes that may be buffered for a follower that does not read. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

/** Accepts one more socket. Returns the client's end and the object's end. @param {State} state @param {boolean} hasTold */
export function accept(state, hasTold) {
  const { 0: client, 1: server } = new /** @type {any} */ (globalThis).WebSocketPair();
  state.acceptWebSocket(server);
  if (!hasTold) attach(server, UNTOLD);
  return [client, server];
}

/**
 * The answer to an upgrade with the client's end of a socket.
 *
 * @param {unknown} client
 * @param {string | undefined} told the first frame, or nothing, if the hello was read
 */
export function upgraded(client, told) {
  const headers = told === undefined ? undefined : { [HELLO]: told };
  return new Response(null, /** @type {any} */ ({ status: 101, webSocket: client, headers }));
}

/** The number of sockets. @param {State} state */
export function count(state) {
  return state.getWebSockets().length;
}

/** The number of sockets whose hello has not arrived yet. @param {State} state */
export function countUntold(state) {
  return state.getWebSockets().filter(isUntold).length;
}

/** Notes that the hello of a socket has arrived. @param {Socket} socket */
export function noteTold(socket) {
  attach(socket, null);
}

/** Notes that a follower is answered: it gets the events from now on, and its socket is closed after the last one. @param {Socket} socket @param {string} version of its dialect */
export function noteAnswered(socket, version) {
  attach(socket, version);
}

/**
 * Sends a frame to all sockets.
 *
 * @param {State} state
 * @param {string} text
 * @param {boolean} hasUntold true if the hello of a socket may not have arrived yet; such a socket gets nothing
 * @returns {number} the number of sockets
 */
export function sendToAll(state, text, hasUntold) {
  const sockets = state.getWebSockets();
  for (const socket of sockets) {
    if (!hasUntold || !isUntold(socket)) send(socket, text);
  }
  return sockets.length;
}

/** Closes the sockets of the answered followers. @param {State} state */
export function closeAnswered(state) {
  for (const socket of state.getWebSockets()) {
    if (attachmentOf(socket)) close(socket, CloseCode.over);
  }
}

/**
 * Sends one frame. The runtime removes a socket whose other end is gone. A socket whose other end does not read is closed here; its follower
 * connects again and requests the events after its position.
 *
 * @param {Socket} socket @param {string} text
 */
export function send(socket, text) {
  try {
    if ((socket.bufferedAmount ?? 0) <= MAX_BUFFERED_BYTES) return socket.send(text);
  } catch {}
  close(socket, CloseCode.tooSlow);
}

/** Closes a socket; does nothing to a closed one. @param {Socket} socket @param {number} code */
function close(socket, code) {
  try {
    socket.close(code, "");
  } catch {}
}

/** @param {Socket} socket */
const isUntold = (socket) => attachmentOf(socket) === UNTOLD;

/** Attaches a value to a socket; does nothing to a closed one. @param {Socket} socket @param {unknown} value */
function attach(socket, value) {
  try {
    socket.serializeAttachment(value);
  } catch {}
}

/** @param {Socket} socket */
function attachmentOf(socket) {
  try {
    return socket.deserializeAttachment();
  } catch {
    return undefined;
  }
}
