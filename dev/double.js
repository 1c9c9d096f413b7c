// The faults of scripted agents: selects the fault for a request. crates/agents/src/script/fault.rs defines and checks the faults;
// dev/fault.js carries them out.
import { CARD } from "./operation.js";

/**
 * @typedef {import("./fault.js").Fault & { on?: string[]; containing?: string; times?: number }} Planned
 * @typedef {(path: string) => Promise<Response>} Ask sends a request to the Worker
 * @typedef {{ default: string | null; scripts: Record<string, { faults?: Planned[] }> }} Scripts
 * @typedef {{ byDefault: string | null; faults: Map<string, { fault: Planned; happened: number }[]> }} Told
 */

/** The faults of scripted agents. They are read once, and change with the scripts. */
export class Doubles {
  /** @type {Promise<Told> | undefined} */
  #told;

  /** @param {Ask} ask */
  constructor(ask) {
    this.ask = ask;
  }

  /**
   * Replaces the script of an agent. The counts of its faults begin again.
   *
   * @param {string} agent @param {{ faults?: Planned[] }} script
   */
  async set(agent, { faults = [] }) {
    (await this.#all()).faults.set(agent, uncounted(faults));
  }

  /**
   * The slug of the agent that the request is for, and the fault for its request; the fault is counted.
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
      // A Worker with an invalid configuration refuses each request with the reason.
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
 * True if a fault applies to a request with this operation, or for the card, and with this body. If the operation is unknown, only faults
 * without operations apply.
 *
 * @param {Planned} fault @param {string | null} operation @param {string} body
 */
export function isFor({ on = [], containing, card, card_without: without }, operation, body) {
  const lies = card !== undefined || without !== undefined;
  const isNamed = operation === CARD ? lies || on.includes(CARD) : !lies && (on.length === 0 || (operation !== null && on.includes(operation)));
  return isNamed && (containing === undefined || body.includes(containing));
}
