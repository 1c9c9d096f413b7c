// The agents of this Worker that are likely to know this person: for requests that the person has not started.
import { runnableAgents, type CataloguedAgent } from "../api/agents.ts";
import { isAdmitted } from "./admitted.ts";
import { isSignedIn } from "./credentials.ts";
import { isOperator } from "./operator.ts";

/**
 * Those that need no credentials, those that have let the person in, and those for which the person is signed in, unless they have refused: agents count wrong
 * keys. In the role of an operator, those of them that have operators. Undefined until the catalogue is loaded.
 */
export function likelyAgents(): CataloguedAgent[] | undefined {
  const role = isOperator.value;
  return runnableAgents()?.filter(({ slug, isOpen, access }) => (isOpen || (isAdmitted(slug) ?? isSignedIn(slug))) && (!role || access?.hasOperators === true));
}
