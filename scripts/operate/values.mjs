// Answers of servers hold anything: these read the members that are expected, and nothing else.

export const record = (value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : {});
export const list = (value) => (Array.isArray(value) ? value : []);
export const text = (value) => (typeof value === "string" ? value : undefined);
export const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** The members of answers that are instants in ms since 1970. */
const INSTANTS = new Set(["at", "begunAt", "until", "expiresAt", "since", "statusAt", "createdAt", "failingSince", "nextAttemptAt", "updatedAt"]);

/** A value of an answer for programs: instants are in RFC 3339. */
export function withInstants(value) {
  if (Array.isArray(value)) return value.map(withInstants);
  if (typeof value !== "object" || value === null) return value;
  const told = (name, member) =>
    INSTANTS.has(name) && typeof member === "number" && Math.abs(member) <= 8.64e15 ? new Date(member).toISOString() : withInstants(member);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, told(name, member)]));
}
