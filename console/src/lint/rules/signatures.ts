// The signatures of the card (spec §8.4).
import { members } from "../../api/card.ts";
import { advice, error, isLoopback, warning, when, type Finding, type Rule, type Subject } from "../found.ts";

export const signatures: Rule = (subject) => {
  const all = subject.read.signatures ?? [];
  if (all.length === 0) return [unsigned(subject)];
  return [
    ...all.flatMap((signature, index) => single(signature, `signatures[${index}]`)),
    ...when(subject.isGenuine === false, () =>
      error("signatures", "No signature fits the card and the keys of its server: clients that verify cards refuse it.",
        subject.isLocal ? "If a proxy changes the card, let it pass it on as it is." : "The card was changed on its way, or signed with a key that has been withdrawn.")),
  ];
};

function unsigned({ at, isLocal, isDevelopment }: Subject): Finding {
  const fix = isLocal ? "Set the secret SIGNING_JWK. Cards are signed for PUBLIC_URL and ORIGINS alone (docs/security.md)." : "Sign the card (spec §8.4).";
  const isHere = isDevelopment === true || (at !== undefined && isLoopback(at.hostname));
  return (isHere ? advice : warning)("signatures", "The card is not signed: clients cannot tell whether it was changed on its way or copied.", fix);
}

function single(json: unknown, about: string): Finding[] {
  const { protected: header, signature } = members(json);
  const read = headerOf(header);
  if (read === undefined || typeof signature !== "string" || signature === "") return [error(about, "The signature cannot be read, so clients that verify cards refuse it.", "Give `protected` and `signature` in base64url (RFC 7515).")];
  const { alg, kid } = read;
  return [
    ...when(typeof alg !== "string" || /^(none|HS\d+)$/i.test(alg), () => error(about, `The algorithm \`${String(alg)}\` proves nothing to others.`, "Sign with ES256, EdDSA or RS256.")),
    ...when(typeof kid !== "string" || kid === "", () => error(about, "The signature does not name its key (`kid`), which the specification requires.", "Name the key.")),
  ];
}

/** The contents of a signature's protected header. */
export function headerOf(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const header: unknown = JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
    return typeof header === "object" && header !== null ? members(header) : undefined;
  } catch {
    return undefined;
  }
}
