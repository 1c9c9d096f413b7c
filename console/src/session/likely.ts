// The agents of this Worker that are likely to know this person: for requests that the person has not started.
import { runnableAgents, type CataloguedAgent } from "../api/agents.ts";
import { isAdmitted } from "./admitted.ts";
import { isSignedIn } from "./credentials.ts";
import { isOperator } from "./operator.ts";

/**
 * Those that need no credentials, those for which the person is signed in, and those that have answered before. In the role of an operator, those of them
 * that have operators. Undefined until the catalogue is loaded.
 */
export function likelyAgents(): CataloguedAgent[] | undefined {
  const role = isOperator.value;
  return runnableAgents()?.filter(({ slug, isOpen, access }) => (isOpen || isSignedIn(slug) || isAdmitted(slug)) && (!role || access?.hasOperators === true));
}
