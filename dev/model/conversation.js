// The state of a conversation: the user's request, the results of calls, and the open questions of other agents.

/**
 * @typedef {{ tool: string; text: string }} Outcome the result of a call
 * @typedef {{ tool: string; task: string; question: string }} Open a question of another agent
 */

/** The tool with which the model asks the user a question. */
export const ASK_USER = "ask_user";

/** The state of a conversation. */
export class Standing {
  /** The last message of the user, followed by the answers to questions of the model. @type {string[]} */
  said = [];
  /** The number of images and files in that message. */
  files = 0;
  /** The number of messages of the user. */
  turns = 0;
  /** The results of calls since then. @type {Outcome[]} */
  results = [];
  /** The unanswered questions of other agents, oldest first. @type {Open[]} */
  open = [];
  /** The answer of the user to the first of these questions. @type {string | undefined} */
  answer;
  /** The number of calls that the model has made. */
  calls = 0;

  /** @param {import("./request.js").Message[]} messages */
  constructor(messages) {
    /** @type {import("./request.js").Call[]} */
    const made = [];
    let told = "";
    for (const message of messages) {
      if (message.role === "user") this.#hear(message, told);
      if (message.role === "tool") this.#take(made.findLast(({ id }) => id === message.call)?.name ?? "", message.text);
      if (message.role !== "assistant") continue;
      told = message.text;
      this.calls += message.calls.length;
      made.push(...message.calls);
      // A question is no longer open when its answer was sent to the agent.
      const left = this.open.filter(({ task }) => !message.calls.some((call) => call.arguments?.task_id === task));
      if (left.length < this.open.length) this.answer = undefined;
      this.open = left;
    }
  }

  /**
   * Handles a message of the user. It answers an open question if the previous text of the model contained that question.
   *
   * @param {{ text: string; files: number }} message @param {string} told
   */
  #hear({ text, files }, told) {
    this.open = this.open.filter(({ question }) => told.includes(question)).slice(0, 1);
    this.answer = this.open.length > 0 ? text : undefined;
    this.results = [];
    this.turns += 1;
    this.said = [text];
    this.files = files;
  }

  /** Handles the result of a call. @param {string} tool @param {string} text */
  #take(tool, text) {
    if (tool === ASK_USER) {
      if (this.open.length === 0) this.said.push(text);
      else this.answer = text;
      return;
    }
    const asked = /^\[INPUT_REQUIRED:task_id=([^\]]*)\]([^]*)$/.exec(text);
    if (asked === null) this.results.push({ tool, text });
    else this.open.push({ tool, task: asked[1] ?? "", question: (asked[2] ?? "").trim() });
  }
}
