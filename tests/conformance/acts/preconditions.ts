// Whether a test applies to an agent, by its card (ACTS §3.3, §12.5).
import { isDeepStrictEqual } from "node:util";
import { isMap, type Binding, type Members, type Test } from "./document.ts";

/** Why a test does not apply; undefined if it does. */
export function unmetPrecondition({ preconditions = {}, transport }: Test, card: Members, binding: Binding): string | undefined {
  const { capabilities = {}, skills = [], extensions = [], transport: alone } = preconditions;
  for (const bindings of [transport, alone]) if (bindings?.includes(binding) === false) return `it is for ${bindings.join(", ")}`;
  for (const [name, wanted] of Object.entries(capabilities)) {
    if (!isDeepStrictEqual(capability(card, name), wanted)) return `the card does not have ${name} = ${JSON.stringify(wanted)}`;
  }
  const own = listOf(card, "skills").map(({ id }) => id);
  const missing = skills.find(({ id }) => !own.includes(id));
  if (missing !== undefined) return `the card has no skill ${missing.id}`;
  const known = listOf(isMap(card["capabilities"]) ? card["capabilities"] : {}, "extensions").map(({ uri }) => uri);
  const unknown = extensions.find((uri) => !known.includes(uri));
  return unknown === undefined ? undefined : `the card has no extension ${unknown}`;
}

/** What a card says of a capability: false where it says nothing. `authentication` is no capability, and means that callers have to show credentials. */
function capability(card: Members, name: string): unknown {
  if (name === "authentication") return listOf(card, "securityRequirements").length > 0;
  return (isMap(card["capabilities"]) ? card["capabilities"][name] : undefined) ?? false;
}

const listOf = (holder: Members, name: string): Members[] => (Array.isArray(holder[name]) ? holder[name].filter(isMap) : []);

