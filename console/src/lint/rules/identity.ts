// The name of the agent, its provider, and the URL of the card (spec §4.4.1, §4.4.2, §8.2).
import { advice, error, isLoopback, isOlder, urlOf, warning, when, type Finding, type Rule, type Subject } from "../found.ts";

/** The largest numbers of characters that menus, and models that choose an agent, show in full. */
const MAX_NAME = 80;
const MAX_DESCRIPTION = 2000;
/** Other agents read a card in each conversation. */
const MAX_BYTES = 64 * 1024;
/** Invisible characters, and characters that change the direction of text. */
const UNSEEN = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;

export const identity: Rule = (subject) => [...names(subject), ...provider(subject), ...links(subject), ...modes(subject), ...place(subject)];

function names({ read }: Subject): Finding[] {
  return [
    ...when(read.name === "", () => error("name", "The card has no name, which the specification requires; SDKs may refuse it.", "Give the agent a name.")),
    ...when(read.description === "", () => error("description", "The card has no description: neither people nor models can tell what the agent is for.", "Say in a sentence or two what the agent does.")),
    ...when(read.version === "", () => error("version", "The card has no version, which the specification requires.", "Give the version of the agent itself, as 1.0.0.")),
    ...when(read.name.length > MAX_NAME, () => warning("name", `The name has ${read.name.length} letters; menus cut it.`, "Keep the name short, and say the rest in the description.")),
    ...when(read.description.length > MAX_DESCRIPTION, () =>
      warning("description", `The description has ${read.description.length} letters; clients cut it, and models pay for it in each conversation.`, "Say what the agent is for in a few sentences, and link to documentation for the rest.")),
    ...when(UNSEEN.test(read.name), () => warning("name", "The name has letters that cannot be seen or that turn the direction of the text, so it can look like another one.", "Use visible letters alone.")),
  ];
}

function provider({ raw, read }: Subject): Finding[] {
  if (!("provider" in raw) || read.provider === undefined) return [];
  const { organization, url } = read.provider;
  return [
    ...when(organization === "", () => error("provider.organization", "A provider is given without the name of its organization.", "Name the organization, or leave the provider out.")),
    ...when(url === "", () => error("provider.url", "A provider is given without its URL, which the specification requires.", "Give the website of the organization, or leave the provider out.")),
    ...when(url !== "" && !isWeb(url), () => error("provider.url", `\`${url}\` is no absolute http or https URL.`, "Give the website of the organization in full, as https://example.com.")),
  ];
}

function links({ raw, at }: Subject): Finding[] {
  return (["documentationUrl", "iconUrl"] as const).flatMap((member): Finding[] => {
    const given = raw[member];
    if (given === undefined) return [];
    const url = urlOf(given);
    const isInline = member === "iconUrl" && url?.protocol === "data:";
    if (isInline) return [];
    if (url === undefined || !isWeb(url.href)) return [error(member, `\`${String(given)}\` is no absolute http or https URL, so clients cannot open it.`, "Give the whole URL, as https://example.com/docs.")];
    const isPlain = url.protocol === "http:" && !isLoopback(url.hostname);
    if (!isPlain) return [];
    if (member === "iconUrl") return [warning(member, "The icon is loaded by http: pages that were loaded by https do not show it.", "Serve the icon by https.")];
    return when(at?.protocol === "https:", () => advice(member, "The documentation is linked by http.", "Link to it by https."));
  });
}

function modes({ read }: Subject): Finding[] {
  return (["defaultInputModes", "defaultOutputModes"] as const).flatMap((member): Finding[] => {
    const given = read[member] ?? [];
    if (given.length === 0) {
      const what = member === "defaultInputModes" ? "takes" : "gives";
      return [error(member, `The card does not say what the agent ${what}, which the specification requires.`, 'List media types, as "text/plain".')];
    }
    return given.filter((mode) => !isMediaType(mode)).map((mode) =>
      warning(member, `\`${mode}\` is no media type, so clients that compare media types find nothing that fits.`, 'Write media types with a slash, as "text/plain".'));
  });
}

function place({ at, served, text, raw, isLocal }: Subject): Finding[] {
  const size = new TextEncoder().encode(text).length;
  const isWellKnown = at?.pathname.endsWith("/.well-known/agent-card.json") ?? true;
  const isEarly = at?.pathname.endsWith("/.well-known/agent.json") ?? false;
  return [
    ...when(isEarly, () => warning("", "The card was found at agent.json, the name before A2A 0.3: newer clients look for agent-card.json.", "Serve the card at /.well-known/agent-card.json, too.")),
    ...when(!isWellKnown && !isEarly, () => advice("", `The card was found at ${at?.pathname}: clients that know the host alone look at /.well-known/agent-card.json.`, "Serve the card there, too, or tell clients its whole URL.")),
    ...when(at?.protocol === "http:" && !isLoopback(at.hostname), () => warning("", "The card was found by http: anybody on the way can change it.", "Serve the card by https.")),
    ...when(isOlder(served), () =>
      warning("supportedInterfaces", "The card is of a version before 1.0: it has `url` instead of `supportedInterfaces`, which clients of 1.0 read.", "List the interfaces in `supportedInterfaces`, and keep `url` for older clients.")),
    ...when(size > MAX_BYTES, () => advice("", `The card has ${Math.round(size / 1024)} KiB; clients fetch it often, and some refuse long ones.`, isLocal ? "Split the agent, or show some skills in the extended card alone." : "Shorten descriptions, or split the agent.")),
    ...when(Object.keys(raw).length === 0, () => error("", "What was found is not a JSON object.", "Serve the card as JSON.")),
  ];
}

/** True for a media type, with or without wildcards and parameters. */
export function isMediaType(mode: string): boolean {
  return /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+\s*(;.*)?$/.test(mode);
}

function isWeb(text: string): boolean {
  return ["http:", "https:"].includes(urlOf(text)?.protocol ?? "");
}
