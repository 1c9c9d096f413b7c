// What the code of the engine's module belongs to: crates and modules of the project, and libraries. Each of these rooms has a bound, so that growth is
// noticed where it happens. A module starts slower by 27 ms for each MB.
import { readFileSync, writeFileSync } from "node:fs";
import { outputs } from "./engine.mjs";
import { inPackage, inProject } from "./paths.mjs";
import { functionBodies } from "./wasm.mjs";
import { say } from "./ui.mjs";

const BOUNDS = inPackage("scripts", "rooms.json");

/** How far a new bound is above the size that it is made of. */
const ROOM_TO_GROW = 1.02;

/** The libraries, by the first part of the paths of their functions. */
const LIBRARIES = new Map([
  ...["alloc", "core", "std", "hashbrown", "dlmalloc"].map((name) => [name, "std"]),
  ...["serde", "serde_core", "serde_json", "serde_wasm_bindgen"].map((name) => [name, "serde"]),
  ...["js_sys", "wasm_bindgen", "wasm_bindgen_futures", "wasm_streams", "web_sys", "worker", "worker_sys"].map((name) => [name, "bindings of the platform"]),
]);

/** The modules of the crate `a2a_edge` that are rooms; the others are small. */
const MODULES = new Set([
  "auth", "edge::front", "edge::functions", "edge::jobs", "edge::object", "edge::service", "executor", "front", "operation", "session", "task",
]);

/** An item of one of the crates of the project, in the name of a function. */
const OWN = /\b(a2a_edge|a2a_agents|a2a|chat|mcp)((?:::\w+)+)/;

/** The room of a function. Generic code of a library belongs to the item of the project that it is named after, if any. */
export function roomOf(name) {
  const [, crate, path] = OWN.exec(name) ?? [];
  if (crate === undefined) return LIBRARIES.get(/\b(\w+)(?:\[\w+\])?::/.exec(name)?.[1]) ?? "other libraries";
  if (crate !== "a2a_edge") return crate;
  const [, room, inner] = path.split("::");
  const module = room === "edge" ? `edge::${inner}` : room;
  return MODULES.has(module) ? module : "other modules";
}

/** The bytes of code of each room, the largest first. `symbols` has a line `N:NAME` for each function, as wasm-opt writes it. */
export function measureRooms(module, symbols) {
  const names = new Map(symbols.split("\n").filter(Boolean).map((line) => [Number.parseInt(line, 10), nameOf(line.slice(line.indexOf(":") + 1))]));
  const rooms = new Map();
  for (const { index, body } of functionBodies(module)) {
    const room = roomOf(names.get(index) ?? "");
    rooms.set(room, (rooms.get(room) ?? 0) + body.length);
  }
  return new Map([...rooms].sort(([, a], [, b]) => b - a));
}

/** A name without the escapes of wasm-opt. */
const nameOf = (text) => text.replace(/\\([0-9a-f]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

/** Prints the rooms of the engine with their bounds, or only those above; returns true if there are none of these. */
export function printRooms({ all }) {
  const bounds = JSON.parse(readFileSync(BOUNDS, "utf8"));
  const rooms = roomsOfEngine();
  const above = ([room, bytes]) => bytes > (bounds[room] ?? 0) * 1000;
  const shown = [...rooms].filter((entry) => all || above(entry));
  for (const [room, bytes] of shown) {
    const bound = bounds[room] === undefined ? "no bound" : `of ${bounds[room]} KB`;
    say(`${room.padEnd(28)} ${(bytes / 1000).toFixed(1).padStart(8)} KB ${bound.padStart(12)}${above([room, bytes]) ? ": EXCEEDED" : ""}`);
  }
  const fits = ![...rooms].some(above);
  if (!fits) say("If that growth is worth it, accept it and say why: npm run size -- --accept");
  return fits;
}

/** Makes the present sizes the bounds. */
export function acceptRooms() {
  const bounds = [...roomsOfEngine()].map(([room, bytes]) => [room, Math.ceil((bytes * ROOM_TO_GROW) / 1000)]);
  writeFileSync(BOUNDS, `${JSON.stringify(Object.fromEntries(bounds), null, 2)}\n`);
}

function roomsOfEngine() {
  const at = (name) => inProject(outputs.default, name);
  return measureRooms(readFileSync(at("index_bg.wasm")), readFileSync(at(SYMBOLS), "utf8"));
}

/** The names of the functions, in the folder of a build. */
export const SYMBOLS = "symbols.txt";
