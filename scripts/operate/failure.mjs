// How the commands for operators end (docs/operating.md, "Exit codes").
import { Stop } from "../lib/ui.mjs";

/** The exit codes other than 0. */
export const EXIT = {
  /** The server refused, or what was asked for failed. */
  refused: 1,
  usage: 2,
  notSignedIn: 3,
  notFound: 4,
  /** No usable answer: no connection, none in time, an overloaded server, or one that is no a2a-edge. */
  unreachable: 5,
  /** A comparison has found differences (docs/deploying.md). */
  differs: 6,
};

/** An expected failure with its exit code. The message is one sentence for people, which says what to do. */
export class Failure extends Stop {
  constructor(message, exit = EXIT.refused) {
    super(message);
    this.exit = exit;
  }
}
