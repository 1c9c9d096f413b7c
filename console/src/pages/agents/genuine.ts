// Verifies the signatures of a card of this Worker with the keys that this Worker publishes (spec §8.4).
import { list, members } from "../../api/card.ts";
import type { Found } from "../../lint/index.ts";
import { headerOf } from "../../lint/rules/signatures.ts";

const ALGORITHMS: Record<string, { key: object; sign: AlgorithmIdentifier | EcdsaParams }> = {
  ES256: { key: { name: "ECDSA", namedCurve: "P-256" }, sign: { name: "ECDSA", hash: "SHA-256" } },
  RS256: { key: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, sign: "RSASSA-PKCS1-v1_5" },
  EdDSA: { key: { name: "Ed25519" }, sign: "Ed25519" },
};

/** True if one of the signatures is valid; undefined if there is no signature, or if this browser cannot check it. */
export async function genuine({ text }: Found): Promise<boolean | undefined> {
  const { signatures, ...card } = members(JSON.parse(text));
  const all = list(signatures).map(members);
  // Browsers have WebCrypto only on pages of https and of this machine.
  if (all.length === 0 || globalThis.crypto?.subtle === undefined) return undefined;
  try {
    const response = await fetch("/.well-known/jwks.json", { credentials: "omit" });
    if (!response.ok) return undefined;
    const keys = list(members(await response.json())["keys"]).map(members);
    const payload = base64url(new TextEncoder().encode(canonical(card)));
    let isChecked = false;
    for (const { protected: header, signature } of all) {
      const { alg, kid } = headerOf(header) ?? {};
      const key = keys.find((one) => one["kid"] === kid);
      const algorithm = ALGORITHMS[String(alg)];
      if (key === undefined || algorithm === undefined) continue;
      const imported = await crypto.subtle.importKey("jwk", key, algorithm.key as AlgorithmIdentifier, false, ["verify"]);
      const signed = new TextEncoder().encode(`${String(header)}.${payload}`);
      if (await crypto.subtle.verify(algorithm.sign, imported, bytesOf(String(signature)), signed)) return true;
      isChecked = true;
    }
    return isChecked || keys.length > 0 ? false : undefined;
  } catch {
    // A browser without the algorithm cannot check the signature.
    return undefined;
  }
}

/** The JSON in its signed form: members sorted by name, without spaces (RFC 8785). */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}
