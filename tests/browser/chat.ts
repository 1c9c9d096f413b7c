// What specs of the chat do: they send messages, wait for the end of tasks, and set the script of the agent `double`.

import assert from "node:assert/strict";
import type { Console } from "./console.ts";
import type { View } from "./view.ts";

/** Sends a message. */
export async function say(view: View, text: string): Promise<void> {
  await view.fill("Message", text);
  await view.press("Enter");
}

/** Waits until exactly this many tasks are shown as completed. */
export function completed(view: View, number: number): Promise<void> {
  const ended = (): Promise<number> => view.page.$$eval(".turn-foot .badge", (all) => all.filter((one) => one.textContent === "Completed").length);
  return view.becomes(ended, number);
}

/** Sets the script of the agent `double`. */
export async function script({ worker }: Console, rules: object[], faults: object[] = []): Promise<void> {
  const body = JSON.stringify({ rules, faults });
  const answer = await fetch(`${worker.url}/_dev/script/double`, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(answer.status, 200, await answer.text());
}

/** The numbers in an artifact of the step `steps` of a script, which has a line for each step: `1 ok`. */
export function stepsShown(view: View): Promise<number[]> {
  return view.page.$$eval(".artifact", (all) => all.flatMap((one) => one.textContent.match(/\d+(?= ok)/g) ?? []).map(Number));
}

/** The numbers from 1 to `last`. */
export const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);
