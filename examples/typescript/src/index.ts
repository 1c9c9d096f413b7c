import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";
import { archive } from "./archive.ts";
import { find_place } from "./atlas.ts";
import { drawing } from "./drawing.ts";
import { orders } from "./orders.ts";
import { poet } from "./poet.ts";
import { report } from "./sales.ts";
import { seats } from "./seats.ts";
import { tables } from "./tables.ts";
import { trip } from "./trip.ts";

export { TaskObject };
export default worker({
  agents,
  tools: { find_place, report },
  executors: { archive, drawing, orders, poet, seats, tables, trip },
});
