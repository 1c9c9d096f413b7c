// What must not compile. Each comment stands before the one line that is wrong.
import { Failure, executor, tool, worker, type Duration } from "a2a-edge";
import * as v from "valibot";
import { z } from "zod";
import agents from "#agents";

export const arguments_ = tool({
  description: "a",
  inputSchema: z.object({ city: z.string(), count: z.number().default(1) }),
  execute({ city, count }, call) {
    const text: string = city;
    const number: number = count;
    // @ts-expect-error a city is a text
    const wrong: number = city;
    // @ts-expect-error tools do not wait outside of memory
    call.wait("1 day");
    return text + number + wrong;
  },
});

// @ts-expect-error a tool needs a description
export const description = tool({ inputSchema: z.object({}), execute: () => "a" });

// @ts-expect-error a schema of valibot is wrapped
export const unwrapped = tool({ description: "a", inputSchema: v.object({ city: v.string() }), execute: () => "a" });

// @ts-expect-error a Map is no result
export const map = tool({ description: "a", inputSchema: z.object({}), execute: () => new Map([["a", 1]]) });

// @ts-expect-error a Date is no result
export const date = tool({ description: "a", inputSchema: z.object({}), execute: async () => ({ at: new Date() }) });

// @ts-expect-error a function is no result
export const function_ = executor({ execute: () => ({ call: () => 1 }) });

// @ts-expect-error a Response is no result
export const response = executor({ execute: (turn) => turn.fetch("https://a.example") });

// @ts-expect-error there is no such recovery
export const recovery = executor({ recovery: "again", execute() {} });

// @ts-expect-error settings are Standard Schema
export const settings = executor({ settings: { type: "object" }, execute() {} });

export const turn = executor({
  settings: z.object({ hall: z.string() }),
  async execute(turn) {
    // @ts-expect-error no such setting
    turn.settings.room;
    // @ts-expect-error a Date is no result of a step
    await turn.step("a", () => new Date());
    // @ts-expect-error undefined comes back as null
    await turn.step("a", () => (Math.random() > 0.5 ? "a" : undefined));
    // @ts-expect-error steps have names
    await turn.step(() => 1);
    // @ts-expect-error a result of a step has its type
    const text: string = await turn.step("a", async () => 5);
    // @ts-expect-error no such duration
    await turn.sleep("5 fortnights");
    // @ts-expect-error no such binding
    turn.env.NOPE;
    // @ts-expect-error a binding of a2a-edge
    turn.env.TASKS;
    // @ts-expect-error a variable of a2a-edge
    turn.env.PUBLIC_URL;
    // @ts-expect-error no such remote agent
    turn.remote("whether");
    // @ts-expect-error no such MCP server
    turn.mcp("room");
    // @ts-expect-error no such secret
    turn.secret("PLACES_KEI");
    // @ts-expect-error other JSON is wrapped as { data: … }
    turn.artifact({ price: 5 });
    // @ts-expect-error a part has one content
    turn.artifact({ name: "a" });
    // @ts-expect-error a wait for a message is bounded
    await turn.wait({ orMessage: true });
    // @ts-expect-error a wait without orMessage ends by time alone
    const by: "message" = await turn.wait("1 day");
    return text + by;
  },
});

// @ts-expect-error there is no such fault
new Failure("a", { fault: "caller" });

// @ts-expect-error no unit
export const duration: Duration = "5";

// @ts-expect-error agents are needed
worker({});

// @ts-expect-error an executor is made by executor()
worker({ agents, executors: { orders: () => "a" } });

// @ts-expect-error a request is answered by a Response
worker({ agents, fetch: () => "a" });
