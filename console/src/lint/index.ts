// The possible improvements of a card, in plain words. Pure: the same card has the same findings.
import { subjectOf, type Finding, type Found, type Rule, type Severity } from "./found.ts";
import { access } from "./rules/access.ts";
import { capabilities } from "./rules/capabilities.ts";
import { identity } from "./rules/identity.ts";
import { interfaces } from "./rules/interfaces.ts";
import { signatures } from "./rules/signatures.ts";
import { skills } from "./rules/skills.ts";

export type { Finding, Found, Severity } from "./found.ts";

const RULES: Rule[] = [identity, interfaces, capabilities, access, skills, signatures];

const ORDER: Severity[] = ["error", "warning", "advice"];

/** The findings of a card: the most severe first, then in the order of the card. */
export function lint(found: Found): Finding[] {
  const subject = subjectOf(found);
  const findings = RULES.flatMap((rule) => rule(subject));
  return ORDER.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
}
