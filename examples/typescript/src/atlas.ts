import { Failure, tool } from "a2a-edge";
import { z } from "zod";

export const find_place = tool({
  description: "Finds places by their name.",
  needs: ["PLACES_KEY"],
  inputSchema: z.object({
    name: z.string().min(1).describe("The name of a place, as Lisbon."),
    count: z.number().int().min(1).max(10).default(1),
  }),
  async execute({ name, count }, call) {
    const url = `https://places.example.com/search?name=${encodeURIComponent(name)}&count=${count}`;
    const answer = await call.fetch(url, { headers: { "x-key": call.secret("PLACES_KEY") }, timeout: "10 seconds" });
    if (!answer.ok) throw new Failure(`the service of places answered ${answer.status}`, { fault: "upstream" });
    const places = await answer.json<{ name: string; country: string }[]>();
    if (places.length === 0) throw new Failure(`there is no place ${name}`, { fault: "arguments" });
    return places;
  },
});
