import agents from "#agents";
import { Failure, TaskObject, executor, worker, type Message } from "a2a-edge";
import { z } from "zod";

export { TaskObject };

const textOf = ({ parts }: Message) => parts.map((part) => ("text" in part ? part.text : "")).join("\n").trim();

/** Enters a receipt such as "Lunch with Ada, 42.50 EUR" into the ledger, and waits until it is booked there. */
export const expenses = executor({
  settings: z.object({ ledger: z.url(), limit: z.number().positive() }),
  async execute(turn) {
    const { ledger, limit } = turn.settings;
    const [receipt = "", ...answers] = turn.history().filter(({ role }) => role === "ROLE_USER").map(textOf);
    const [, what, euros = ""] = /^(.+?),?\s+(\d+(?:\.\d\d)?) EUR$/s.exec(receipt) ?? [];
    if (what === undefined) return turn.reject('a receipt is a line such as "Lunch with Ada, 42.50 EUR"');
    if (Number(euros) > limit && answers.length === 0) return turn.ask(`${what} costs more than ${limit} EUR. Who has approved it?`);

    const booked = turn.callback("booked");
    const entry = await turn.step("enter", async ({ idempotencyKey }) => {
      const answer = await turn.fetch(ledger, {
        method: "POST",
        headers: { authorization: `Bearer ${turn.secret("LEDGER_KEY")}`, "idempotency-key": idempotencyKey },
        body: JSON.stringify({ owner: turn.caller.owner, what, euros, approvedBy: answers.at(-1) ?? null, notify: booked.url }),
      });
      if (!answer.ok) throw new Failure(`the ledger answered ${answer.status}`, { fault: "upstream" });
      return (await answer.json<{ entry: string }>()).entry;
    }, { retry: 3 });

    turn.working(`entered as ${entry}`);
    const call = await booked.wait("30 days");
    if (call.by === "time") throw new Failure(`${entry} was not booked within 30 days`);
    return `${what}: ${euros} EUR, booked as ${entry}`;
  },
});

/** Gives each line to `expenses`, passes its questions on, and the answer back to those that asked. */
export const office = executor({
  async execute(turn) {
    const agent = turn.remote("expenses");
    const question = turn.history().at(-2)?.parts.find((part) => "data" in part);
    const asked = question && "data" in question ? (question.data as string[]) : undefined;
    const lines = turn.text.split("\n").filter((line) => line.trim() !== "");
    const sent = asked?.map((taskId) => agent.send(turn.text, { taskId })) ?? lines.map((line) => agent.send(line));
    const answers = (await Promise.all(sent)).map(({ outcome, text, task }) => ({ outcome, text, id: (task as { id: string }).id }));

    for (const { outcome, text, id } of answers) {
      if (outcome !== "input-required") turn.artifact(outcome === "completed" ? text : `not entered: ${text}`, { id });
    }
    const open = answers.filter(({ outcome }) => outcome === "input-required");
    if (open.length > 0) return turn.ask([{ text: open.map(({ text }) => text).join("\n") }, { data: open.map(({ id }) => id) }]);
  },
});

export default worker({ agents, executors: { expenses, office } });
