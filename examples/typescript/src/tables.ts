import { executor } from "a2a-edge";

export const tables = executor({
  execute(turn) {
    const guests = Number.parseInt(turn.text, 10);
    return Number.isNaN(guests) ? turn.ask("For how many?") : `a table for ${guests}`;
  },
});
