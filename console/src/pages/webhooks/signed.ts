// What of a received request its signature is about.

const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/**
 * The headers of a signature in a pasted text: lines `name: value`, JSON, or as programs and commands print them. Other headers, which
 * may be secret, are left out.
 */
export function signedHeaders(text: string): Record<string, string> {
  const found = NAMES.map((name): [string, string | undefined] => {
    // A signature is a list with spaces and commas.
    const value = name === "webhook-signature" ? "[^\"'\\r\\n})\\]]+" : "[^\\s\"',})\\]]+";
    const pattern = new RegExp(`(?<![\\w-])${name}["']?\\s*[:=,]\\s*\\[?(?:b?["'])?(${value})`, "i");
    return [name, pattern.exec(text)?.[1]?.replace(/[\s,;]+$/, "")];
  });
  return Object.fromEntries(found.filter((pair): pair is [string, string] => pair[1] !== undefined));
}
