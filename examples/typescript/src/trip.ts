import { executor, Failure } from "a2a-edge";

export const trip = executor({
  async execute(turn) {
    const [weather, hotels] = await Promise.all([
      turn.remote("weather").send(`Will it rain in ${turn.text}?`),
      turn.remote("hotels").send(`A room in ${turn.text}`, { timeout: "1 minute" }),
    ]);
    if (hotels.outcome === "input-required") return turn.ask(hotels.text);
    if (hotels.outcome !== "completed") throw new Failure(hotels.text, { fault: "upstream" });
    return `${weather.text}\n${hotels.text}`;
  },
});
