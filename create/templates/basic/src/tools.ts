import { Failure, tool } from "a2a-edge";
import * as z from "zod";

interface Place {
  name: string;
  country: string;
  elevation?: number;
}

/** The tool of agents/places.toml. PLACES_URL is a variable: wrangler.toml has that of the service, tests/test.vars that of the tests. */
export const find_place = tool({
  description: "Finds a place by its name.",
  inputSchema: z.object({ name: z.string().min(1).describe("The name of a place, as Lisbon.") }),
  async execute({ name }, call) {
    const query = new URLSearchParams({ name, count: "1" });
    const answer = await call.fetch(`${call.env.PLACES_URL}/v1/search?${query}`);
    if (!answer.ok) throw new Failure(`the service answered ${answer.status}`, { fault: "upstream" });
    const { results: [place] = [] } = await answer.json<{ results?: Place[] }>();
    if (place === undefined) throw new Failure(`there is no place ${name}`, { fault: "arguments" });
    return place;
  },
});
