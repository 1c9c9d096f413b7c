// The faults of scripted agents: which one happens to a request. crates/agents/src/script/fault.rs says what faults there are and checks them;
// dev/fault.js carries one out.
import { CARD } from "./operation.js";

/**
 * @typedef {import("./fault.js").Fault & { on?: string[]; containing?: string; times?: number }} Planned
 * @typedef {(path: string) => Promise<Response>} Ask asks the Worker
 * @typedef {{ default: string | null; scripts: Record<string, { faults?: Planned[] }> }} Scripts
 * @typedef {{ byDefault: string | null; faults: Map<string, { fault: Planned; happened: number }[]> }} Told
 */

/** The faults of scripted agents, as long as nobody sets another script. */
export class Doubles {
  /** @type {Promise<Told> | undefined} */
  #told;

  /** @param {Ask} ask */
  constructor(ask) {
    this.ask = ask;
  }

  /**
   * An agent plays another script. What was counted for it is forgotten.
   *
   * @param {string} agent @param {{ faults?: Planned[] }} script
   */
  async set(agent, { faults = [] }) {
    (await this.#all()).faults.set(agent, uncounted(faults));
  }

  /**
   * The slug of the agent that is meant, and the fault that happens to its request; it counts as one that has happened.
   *
   * @param {import("./operation.js").Asked} asked @param {string} body
   * @returns {Promise<{ agent: string | null; fault: Planned | undefined }>}
   */
  async take(asked, body) {
    const told = await this.#all();
    const agent = asked.agent ?? told.byDefault;
    const planned = told.faults.get(agent ?? "") ?? [];
    const taken = planned.find(({ fault, happened }) => happened < (fault.times ?? Infinity) && isFor(fault, asked.operation, body));
    if (taken !== undefined) taken.happened += 1;
    return { agent, fault: taken?.fault };
  }

  #all() {
    this.#told ??= this.#read();
    return this.#told;
  }

  /** @returns {Promise<Told>} */
  async #read() {
    const answer = await this.ask("/_dev/script");
    if (!answer.ok) {
      // A Worker that cannot be configured says so to each request.
      this.#told = undefined;
      return { byDefault: null, faults: new Map() };
    }
    const { default: byDefault, scripts } = /** @type {Scripts} */ (await answer.json());
    const faults = Object.entries(scripts).map(([slug, { faults = [] }]) => /** @type {const} */ ([slug, uncounted(faults)]));
    return { byDefault, faults: new Map(faults) };
  }
}

/** @param {Planned[]} faults */
const uncounted = (faults) => faults.map((fault) => ({ fault, happened: 0 }));

/**
 * Whether a fault is for a request: one for this operation, or for the card, with this body. Where the operation cannot be told, those that
 * name none are.
 *
 * @param {Planned} fault @param {string | null} operation @param {string} body
 */
export function isFor({ on = [], containing, card, card_without: without }, operation, body) {
  const lies = card !== undefined || without !== undefined;
  const isNamed = operation === CARD ? lies || on.includes(CARD) : !lies && (on.length === 0 || (operation !== null && on.includes(operation)));
  return isNamed && (containing === undefined || body.includes(containing));
}
