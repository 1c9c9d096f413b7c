// The text or the calls of the scripted model's answer. They depend only on the request.
import { choose } from "./choose.js";
import { ASK_USER, Standing } from "./conversation.js";
import { Filling } from "./fill.js";

/**
 * @typedef {import("./request.js").ChatRequest} ChatRequest
 * @typedef {import("./request.js").Tool} Tool
 * @typedef {{ name: string; arguments: Record<string, any> }} Called
 * @typedef {{ text: string; calls: (Called & { id: string })[]; isCut: boolean }} Reply
 */

/** The largest number of times that the model asks for a number in one turn. */
const MOST_ASKED = 3;

/** The largest number of characters of a message that are repeated. */
const MOST_REPEATED = 200;

/** The answer to a request. @param {ChatRequest} request @returns {Reply} */
export function reply(request) {
  const standing = new Standing(request.messages);
  const calls = called(request, standing).map((call, index) => ({ ...call, id: `call_${standing.calls + index + 1}` }));
  if (calls.length > 0) return { text: "", calls, isCut: false };
  const letters = [...told(request, standing)];
  const most = request.maxTokens === undefined ? Infinity : request.maxTokens * 4;
  return { text: letters.slice(0, most).join(""), calls: [], isCut: letters.length > most };
}

/**
 * The calls of the answer; empty if the model can answer with text.
 *
 * @param {ChatRequest} request @param {Standing} standing @returns {Called[]}
 */
function called({ tools }, standing) {
  const asksUser = tools.find(({ name }) => name === ASK_USER);
  const [open] = standing.open;
  if (open !== undefined) {
    if (standing.answer !== undefined) return [{ name: open.tool, arguments: { prompt: standing.answer, task_id: open.task } }];
    return asksUser === undefined ? [] : [asking(asksUser, open.question)];
  }
  if (standing.results.length > 0) return [];
  const calls = [];
  for (const { tool, text } of choose(standing.said.join("\n"), tools.filter(({ name }) => name !== ASK_USER))) {
    const filling = new Filling(text);
    const filled = filling.object(tool.parameters);
    if (filling.missing !== undefined && asksUser !== undefined && standing.said.length <= MOST_ASKED) {
      return [asking(asksUser, `Which number is \`${filling.missing}\` of ${shown(tool.name)}?`)];
    }
    calls.push({ name: tool.name, arguments: filled });
  }
  return calls;
}

/** A question for the user. @param {Tool} tool @param {string} question @returns {Called} */
function asking({ name, parameters }, question) {
  const filled = new Filling(question).object(parameters);
  const text = Object.keys(filled).find((key) => typeof filled[key] === "string") ?? "question";
  return { name, arguments: { ...filled, [text]: question } };
}

/** The text of the answer. @param {ChatRequest} request @param {Standing} standing */
function told(request, standing) {
  const { results } = standing;
  const [first] = results;
  const summed = results.length > 1 ? `Here are ${results.length} results:${results.map((one) => `\n- ${line(one)}`).join("")}` : first === undefined ? "" : sentence(first);
  const questions = standing.answer === undefined ? standing.open.map(({ tool, question }) => `${shown(tool)} asks: ${question}`) : [];
  const text = [summed, ...questions].filter((part) => part !== "").join("\n\n") || introduction(request, standing);
  if (request.schema === undefined) return text;
  return JSON.stringify(new Filling(results.length === 0 ? standing.said.join("\n") : text).object(request.schema));
}

/** @param {import("./conversation.js").Outcome} outcome */
function sentence({ tool, text }) {
  const { said, why } = result(text);
  return why === undefined ? `${shown(tool)} says: ${said}` : `${shown(tool)} gave no result: ${why}`;
}

/** @param {import("./conversation.js").Outcome} outcome */
function line({ tool, text }) {
  const { said, why } = result(text);
  return why === undefined ? `${shown(tool)}: ${said}` : `${shown(tool)}: no result, ${why}`;
}

/** The text of a result, or the reason if there is none. @param {string} text @returns {{ said?: string; why?: string }} */
function result(text) {
  const [, head = "", rest = ""] = /^\[([^\]]*)\]([^]*)$/.exec(text) ?? [];
  switch (head) {
    case "COMPLETED":
      return { said: rest.trim() };
    case "FAILED":
      return { why: rest.trim() };
    case "CANCELED":
      return { why: "it was canceled" };
    case "TIMEOUT":
      return { why: "it took too long" };
    default:
      return head.startsWith("AUTH_REQUIRED") ? { why: `it needs credentials: ${rest.trim()}` } : { said: text };
  }
}

/** The model's description of itself, used if nothing matches. @param {ChatRequest} request @param {Standing} standing */
function introduction({ tools }, { said, files, turns }) {
  const names = tools.filter(({ name }) => name !== ASK_USER).map(({ name }) => `\`${name}\``);
  const letters = [...said.join(" ")];
  return [
    "I am the scripted model of development (dev:model): I match words, and understand nothing.",
    names.length === 0 ? " I have no tools to call." : ` I call ${names.join(", ")} when your words match.`,
    letters.length === 0 ? "" : ` You said: "${letters.slice(0, MOST_REPEATED).join("")}${letters.length > MOST_REPEATED ? "…" : ""}"`,
    files === 0 ? "" : ` I cannot look into the ${files} files that came with it.`,
    turns > 1 ? ` It is message ${turns} of our conversation.` : "",
  ].join("");
}

/** The name of a tool in readable form. @param {string} tool */
function shown(tool) {
  const read = tool.replace(/[_-]/g, " ").trim();
  return read === "" ? "A tool" : read.charAt(0).toUpperCase() + read.slice(1);
}
