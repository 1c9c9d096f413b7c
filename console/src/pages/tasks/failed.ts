// Which entries of a timeline report failures.

/** True if the entry reports a failure. */
export function hasFailed(entry: { kind: string; failed?: boolean; state?: string; outcome?: string }): boolean {
  if (entry.kind === "webhookAttempt") return entry.outcome !== "delivered";
  return entry.failed === true || /FAILED|REJECTED/.test(entry.state ?? "");
}
