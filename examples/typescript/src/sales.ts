import { Failure, tool } from "a2a-edge";
import { type } from "arktype";

const SUMS = "SELECT product, sum(cents) AS cents FROM sales WHERE owner = ? AND month = ? GROUP BY product";

export const report = tool({
  description: "Tells the sales of a month.",
  inputSchema: type({ month: /^\d{4}-\d\d$/ }),
  async execute({ month }, { caller, env }) {
    if (!caller.may("finance")) throw new Failure("only for finance", { fault: "arguments" });
    const { results } = await env.SALES.prepare(SUMS).bind(caller.owner, month).all<{ product: string; cents: number }>();
    return results;
  },
});
