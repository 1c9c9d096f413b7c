// The tools that the agents of this repository name: those of agents/, and in tests those of tests/agents. Each export is a tool, by its name.
import { Failure, tool } from "a2a-edge";

export const echo = tool({
  description: "Gives back the text it gets.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string", description: "What to give back." } },
    required: ["text"],
    additionalProperties: false,
  },
  execute: ({ text }: { text: string }) => text,
});

export const add_numbers = tool({
  description: "Adds two numbers.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
  execute({ a, b }: { a: number; b: number }) {
    const sum = a + b;
    if (!Number.isFinite(sum)) throw new Failure("the sum is too large for a number", { fault: "arguments" });
    return sum;
  },
});

export const current_time = tool({
  description: "Tells the date and time as ISO 8601.",
  inputSchema: {
    type: "object",
    properties: {
      offset_minutes: {
        type: "integer",
        minimum: -840,
        maximum: 840,
        default: 0,
        description: "Minutes east of UTC, as 60 for Central European Time in winter.",
      },
    },
    additionalProperties: false,
  },
  execute({ offset_minutes = 0 }: { offset_minutes?: number }) {
    const local = new Date(Date.now() + offset_minutes * 60_000).toISOString();
    return offset_minutes === 0 ? local : local.replace("Z", offset(offset_minutes));
  },
});

export const get_greeting = tool({
  description: "Says hello to somebody.",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string", maxLength: 200, default: "world" } },
    additionalProperties: false,
  },
  execute: ({ name = "world" }: { name?: string }) => `Hello, ${name}!`,
});

export const is_admin = tool({
  description: 'Tells whether you have the permission "admin".',
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
  execute: (_args, call) => call.caller.may("admin"),
});

/** An offset from UTC in ISO 8601, such as `+01:30`. */
function offset(minutes: number): string {
  const digits = (number: number): string => String(number).padStart(2, "0");
  const distance = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${digits(Math.floor(distance / 60))}:${digits(distance % 60)}`;
}
