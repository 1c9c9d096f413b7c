// Where a conversation stands: what is asked, what calls have given, and which questions of other agents are open.

/**
 * @typedef {{ tool: string; text: string }} Outcome the result of a call
 * @typedef {{ tool: string; task: string; question: string }} Open a question of another agent
 */

/** The tool that asks the user. */
export const ASK_USER = "ask_user";

/** Where a conversation stands. */
export class Standing {
  /** What the user has said last, and then answered to questions of the model. @type {string[]} */
  said = [];
  /** How many images and files came with it. */
  files = 0;
  /** How often the user has said something. */
  turns = 0;
  /** The results of calls since then. @type {Outcome[]} */
  results = [];
  /** The questions of other agents that nobody has answered, oldest first. @type {Open[]} */
  open = [];
  /** The answer of the user to the first of them. @type {string | undefined} */
  answer;
  /** How many calls the model has made. */
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
      // What is handed on to an agent is not open any more.
      const left = this.open.filter(({ task }) => !message.calls.some((call) => call.arguments?.task_id === task));
      if (left.length < this.open.length) this.answer = undefined;
      this.open = left;
    }
  }

  /** The user says something. It answers an open question if that was the last thing told. @param {{ text: string; files: number }} message @param {string} told */
  #hear({ text, files }, told) {
    this.open = this.open.filter(({ question }) => told.includes(question)).slice(0, 1);
    this.answer = this.open.length > 0 ? text : undefined;
    this.results = [];
    this.turns += 1;
    this.said = [text];
    this.files = files;
  }

  /** A call has given a result. @param {string} tool @param {string} text */
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
