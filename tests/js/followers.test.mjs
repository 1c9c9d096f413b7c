// The sockets of a task's followers, as an object walks over them.
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { CloseCode } from "../../js/client-stream.js";
import { accept, closeAnswered, count, countUntold, noteAnswered, noteTold, send, sendToAll } from "../../js/followers.js";

class Socket {
  sent = [];
  closed = [];
  bufferedAmount = 0;
  isGone = false;
  #attachment = null;

  send(text) {
    if (this.isGone) throw new TypeError("it is closed");
    this.sent.push(text);
  }
  close(code) {
    if (this.isGone) throw new TypeError("it is closed");
    this.closed.push(code);
  }
  serializeAttachment(value) {
    if (this.isGone) throw new TypeError("it is closed");
    this.#attachment = structuredClone(value);
  }
  deserializeAttachment() {
    if (this.isGone) throw new TypeError("it is closed");
    return this.#attachment;
  }
}

class State {
  sockets = [];

  getWebSockets() {
    return [...this.sockets];
  }
  acceptWebSocket(socket) {
    this.sockets.push(socket);
  }
  /** Accepts a follower: one whose hello has not arrived, one whose caller is known, or an answered one. */
  follower(is) {
    const [, socket] = accept(this, is !== "untold");
    if (is === "answered") noteAnswered(socket, "1.0");
    return socket;
  }
}

globalThis.WebSocketPair = class {
  0 = { client: true };
  1 = new Socket();
};

describe("a frame for all", () => {
  let state = new State();
  afterEach(() => {
    state = new State();
  });

  test("reaches all sockets but those whose hello has not arrived", () => {
    const [untold, told, answered] = ["untold", "told", "answered"].map((is) => state.follower(is));
    assert.deepEqual([count(state), countUntold(state)], [3, 1]);
    assert.equal(sendToAll(state, "E1", true), 3);
    assert.deepEqual([untold, told, answered].map(({ sent }) => sent.length), [0, 1, 1]);
    noteTold(untold);
    assert.equal(countUntold(state), 0);
    sendToAll(state, "E2", true);
    assert.deepEqual(untold.sent, ["E2"]);
  });

  test("does not ask each socket where every hello has arrived", () => {
    const socket = state.follower("told");
    socket.deserializeAttachment = () => assert.fail("it is asked");
    sendToAll(state, "E1", false);
    assert.deepEqual(socket.sent, ["E1"]);
  });

  test("closes the socket of a client that does not read, and leaves out one that is gone", () => {
    const [slow, gone, other] = ["told", "answered", "told"].map((is) => state.follower(is));
    slow.bufferedAmount = 4 * 1024 * 1024 + 1;
    gone.isGone = true;
    assert.equal(sendToAll(state, "E1", true), 3);
    assert.deepEqual([slow.sent, slow.closed], [[], [CloseCode.tooSlow]]);
    assert.deepEqual([gone.sent, gone.closed], [[], []]);
    assert.deepEqual([other.sent, other.closed], [["E1"], []]);
  });

  test("goes to nobody where nobody follows", () => {
    assert.equal(sendToAll(state, "E1", true), 0);
  });
});

test("after the last event the sockets of answered followers are closed", () => {
  const state = new State();
  const [untold, told, answered, gone] = ["untold", "told", "answered", "answered"].map((is) => state.follower(is));
  gone.isGone = true;
  closeAnswered(state);
  assert.deepEqual([untold, told, answered, gone].map(({ closed }) => closed), [[], [], [CloseCode.over], []]);
});

test("one frame goes to one socket", () => {
  const socket = new Socket();
  send(socket, "S1");
  assert.deepEqual(socket.sent, ["S1"]);
});
