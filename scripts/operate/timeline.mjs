// The timeline of a task (docs/timeline.md): its pages, and its entries in the words of the console (console/src/pages/tasks/entries.tsx).
import { EXIT, Failure } from "./failure.mjs";
import { actOn, pathOf } from "./find.mjs";
import { cleanLines, jsonLine } from "./text.mjs";
import { bytesWord, clockWord, counted, durationWord, instant, stateCell, timeWord } from "./words.mjs";
import { list, number, record, text, withInstants } from "./values.mjs";

const PAGE = 100;
const MAX_LINES = 6;
const MAX_TEXT = 400;

/** A page of entries, oldest first, behind the one with the token. */
export async function timelinePage(server, task, token) {
  const page = record(
    await server.json({
      agent: task.agent,
      path: pathOf(task, "/timeline"),
      query: { pageSize: PAGE, pageToken: token },
      headers: actOn(server, task),
    }),
  );
  if (!Array.isArray(page.entries)) throw new Failure(`${task.agent.slug} answered with something that is no timeline.`, EXIT.unreachable);
  return { ...page, entries: page.entries.map(record), next: text(page.nextPageToken) ?? "", resume: text(page.resumeToken) };
}

/** All pages up to the present. */
export async function* timelinePages(server, task) {
  for (let token; ;) {
    const page = await timelinePage(server, task, token);
    if (page.next !== "" && page.next === token)
      throw new Failure(`${task.agent.slug} answered with the same page of the timeline twice.`, EXIT.unreachable);
    yield page;
    token = page.next;
    if (token === "") return;
  }
}

/** Prints the entries of pages, with the day where it is another one than before. */
export class Entries {
  #day;

  constructor(print, isJson) {
    this.print = print;
    this.isJson = isJson;
  }

  async show(entries) {
    for (const entry of entries) {
      if (this.isJson) {
        await this.print.line(jsonLine({ type: "entry", ...withInstants(entry) }));
        continue;
      }
      const day = number(entry.at) === undefined ? this.#day : timeWord(entry.at).slice(0, 10);
      if (day !== this.#day) await this.print.line(`  ${this.print.toned(day, "head")}`);
      this.#day = day;
      for (const line of linesOf(entry, this.print)) await this.print.line(line);
    }
  }
}

/** The lines of an entry: the first has its time, its generation and its words; texts stand below, indented. */
function linesOf(entry, print) {
  const at = number(entry.at);
  const clock = print.toned(instant(at) === undefined ? " ".repeat(12) : clockWord(at), "quiet");
  const generation = number(entry.generation) === undefined ? "" : `#${entry.generation}`;
  const { title, tone, about = [], said = [] } = wordsOf(entry);
  const rest = about.filter((part) => part !== "" && part !== undefined).join(" · ");
  const [first, ...lines] = cleanLines(rest === "" ? title : `${title}  ${rest}`);
  const head = `  ${clock}  ${generation.padEnd(5)} ${print.toned([first, ...lines].join(" "), tone)}`;
  return [head, ...said.flatMap((part) => excerpt(part)).map((line) => `${" ".repeat(22)}${line}`)];
}

function excerpt({ value, isCut }) {
  if (value === undefined || value === "" || value === "null") return [];
  const lines = cleanLines(value.slice(0, MAX_TEXT));
  const isShort = value.length <= MAX_TEXT && lines.length <= MAX_LINES && isCut !== true;
  const shown = lines.slice(0, MAX_LINES);
  return isShort ? shown : [...shown.slice(0, -1), `${shown.at(-1)} …`];
}

function wordsOf(entry) {
  switch (entry.kind) {
    case "task":
    case "status": {
      const { text: word, tone } = stateCell(entry.state);
      return { title: `${entry.kind === "task" ? "Task" : "State"} ${word}`, tone, said: partsOf(entry.message) };
    }
    case "message":
      return { title: "Message of the client", said: partsOf(entry.message) };
    case "artifact": {
      const bytes = list(entry.parts).reduce((sum, part) => sum + (number(record(part).bytes) ?? 0), 0);
      return {
        title: `Artifact ${text(entry.name) ?? text(entry.artifactId) ?? ""}`,
        about: [entry.append === true ? "continued" : "", bytesWord(bytes), entry.lastChunk === true ? "complete" : ""],
        said: partsOf(entry),
      };
    }
    case "run": {
      const caller = text(entry.caller);
      return {
        title: `Message ${entry.message}, attempt ${entry.attempt}`,
        tone: "head",
        about: [entry.resumes === true ? "goes on where it was" : "", caller === undefined ? "" : `for ${caller}`],
      };
    }
    case "step":
      return stepWords(entry);
    case "webhookAttempt": {
      const outcome = outcomeWord(entry.outcome);
      const isGood = entry.outcome === "delivered";
      const about = [
        outcome,
        `attempt ${entry.attempt}`,
        entry.status === undefined ? "" : `status ${entry.status}`,
        durationWord(number(entry.durationMs) ?? 0),
        isGood ? "" : text(entry.error),
      ];
      return { title: `Webhook ${text(entry.webhook) ?? ""} at ${text(entry.origin) ?? ""}`, tone: isGood ? "quiet" : "bad", about };
    }
    case "usage":
      return { title: "Used outside of steps", about: [usageWord(entry.usage)] };
    case "taken":
      return { title: "The run took a message" };
    case "held":
      return {
        title: entry.chars > 0 ? `Held back ${entry.chars} characters of the next chunk, which may begin a secret` : "Let out what was held back",
      };
    case "parked": {
      const [callback, unanswered] = [record(entry.callback), record(entry.unanswered)];
      const or = [entry.orMessage === true ? "or a message" : "", text(callback.name) === undefined ? "" : `or the callback ${callback.name}`];
      const silent =
        unanswered.times === undefined
          ? ""
          : `its program has not answered ${counted(unanswered.times, "request")} since ${timeWord(unanswered.since)}`;
      return { title: "Waits outside of memory", tone: "wait", about: [`until ${timeWord(entry.until)}`, ...or, silent] };
    }
    case "woken":
      return { title: `The wait ended by ${{ time: "its time", message: "a message", callback: "a callback" }[entry.by] ?? entry.by}` };
    case "ended":
      return { title: "The run is over" };
    case "callback":
      return {
        title: `Callback ${nameOf(entry)} made`,
        about: [`takes ${entry.uses === 1 ? "one body" : `${entry.uses} bodies`} until ${timeWord(entry.expiresAt)}`],
      };
    case "called":
      return { title: `Callback ${nameOf(entry)} called`, said: entry.body === undefined ? [] : partsOf({ parts: [entry.body] }) };
    default:
      // A later version of the server may send other kinds.
      return { title: String(entry.kind) };
  }
}

function stepWords(step) {
  const failed = step.failed === true;
  const about = [
    failed ? "failed" : "",
    number(step.durationMs) === undefined ? "" : durationWord(step.durationMs),
    usageWord(step.usage),
    list(step.calls).length > 0 ? `calls ${step.calls.join(", ")}` : "",
  ];
  return {
    title: stepTitle(step),
    tone: failed ? "bad" : undefined,
    about,
    said: [{ value: text(step.error) ?? text(step.outcome), isCut: step.isCut }],
  };
}

/** What an attempt to reach a webhook came to. */
export const outcomeWord = (outcome) => ({ delivered: "delivered", retry: "failed, is tried again", givenUp: "given up" })[outcome] ?? outcome;

/** A step that is done, or is under way. */
export function stepTitle(step) {
  if (step.type === "model" && step.name === "model") return `Model request ${step.nth}`;
  const word = { model: "Model", tool: "Tool", agent: "Agent" }[step.type] ?? "Step";
  const name = step.type === "agent" ? step.agent : step.type === "tool" ? (step.tool ?? `call ${step.name}`) : nameOf(step);
  return `${word} ${name}`;
}

export function usageWord(usage) {
  if (usage === undefined || usage === null) return "";
  const { inputTokens = 0, outputTokens = 0, costMicros = 0 } = usage;
  return `${inputTokens} tokens in, ${outputTokens} out${costMicros > 0 ? `, cost ${(costMicros / 1e6).toFixed(4)}` : ""}`;
}

function partsOf(holder) {
  const { parts, moreParts } = record(holder);
  const said = list(parts)
    .map(record)
    .map((part) => {
      const about = [text(part.filename), text(part.mediaType), part.type === "text" ? undefined : bytesWord(number(part.bytes) ?? 0)]
        .filter((one) => one !== undefined)
        .join(" · ");
      const value = text(part.text) ?? "";
      return { value: about === "" ? value : value === "" ? about : `${about}\n${value}`, isCut: part.isCut };
    });
  return moreParts === undefined ? said : [...said, { value: `and ${moreParts} more parts` }];
}

const nameOf = ({ name, nth }) => (nth > 1 ? `${name} ${nth}` : `${name}`);
