// The skills of the agent, which people and models read to choose an agent (spec §4.4.5).
import type { AgentSkill } from "../../api/types.ts";
import { advice, error, warning, when, type Finding, type Rule } from "../found.ts";
import { isMediaType } from "./identity.ts";

const MAX_DESCRIPTION = 1024;
const MAX_EXAMPLE = 1000;

export const skills: Rule = ({ raw, read }) => {
  if (!("skills" in raw)) return [error("skills", "The card has no list of skills, which the specification requires.", "List what the agent can do.")];
  if (read.skills.length === 0) return [warning("skills", "The card has no skills: neither people nor models can tell what to ask for.", "Describe at least one skill.")];
  return read.skills.flatMap((skill, index) => single(skill, index, read.skills));
};

function single(skill: AgentSkill, index: number, all: AgentSkill[]): Finding[] {
  const { id, name, description, tags = [], examples = [], inputModes = [], outputModes = [] } = skill;
  const about = (member: string) => `skills[${index}]${member === "" ? "" : `.${member}`}`;
  const called = `The skill ${name === "" ? (id === "" ? `number ${index + 1}` : `\`${id}\``) : `“${name}”`}`;
  const earlier = all.slice(0, index);
  return [
    ...when(id === "", () => error(about("id"), `${called} has no id.`, "Give it an id of its own.")),
    ...when(id !== "" && earlier.some((other) => other.id === id), () => error(about("id"), `${called} has the id \`${id}\` of an earlier one, so clients mix them up.`, "Give each skill an id of its own.")),
    ...when(name === "", () => error(about("name"), `${called} has no name.`, "Give it a name that people understand.")),
    ...when(name !== "" && earlier.some((other) => other.name === name && other.id !== id), () => warning(about("name"), `${called} has the name of an earlier one, so people cannot tell them apart.`, "Give each skill a name of its own.")),
    ...when(description === "", () => error(about("description"), `${called} has no description, by which people and models choose.`, "Say in a sentence what it does, and with what.")),
    ...when(description.length > MAX_DESCRIPTION, () => advice(about("description"), `${called} is described in ${description.length} letters; clients cut it, and models pay for it in each conversation.`, "Say it in a few sentences.")),
    ...when(tags.length === 0, () => warning(about("tags"), `${called} has no tags, which the specification requires and catalogues search by.`, "Add a few words, as “invoices”.")),
    ...when(examples.length === 0, () => advice(about("examples"), `${called} has no examples: people do not know what to write, and models choose worse.`, "Add one or two messages that it answers well.")),
    ...when(examples.some((example) => example.trim() === ""), () => warning(about("examples"), `${called} has an example that is empty.`, "Take it out.")),
    ...when(examples.some((example) => example.length > MAX_EXAMPLE), () => advice(about("examples"), `${called} has an example of more than ${MAX_EXAMPLE} letters.`, "Keep examples short.")),
    ...[...inputModes, ...outputModes].filter((mode) => !isMediaType(mode)).map((mode) =>
      warning(about("inputModes"), `${called} names \`${mode}\`, which is no media type.`, 'Write media types with a slash, as "text/plain".')),
  ];
}
