// `a2a-edge completion SHELL`: a script for the shell, made of the commands and their options.
import { COMMANDS, OPERATE } from "../../lib/commands.mjs";
import { DEPLOY_OPTIONS, ROLLBACK_OPTIONS } from "../../lib/deploy-options.mjs";
import { EXIT, Failure } from "../failure.mjs";
import { commandOf } from "../operate.mjs";

const SHELLS = { bash, zsh, fish };

export default {
  does: "Prints a script that completes commands and options in a shell.",
  args: Object.keys(SHELLS).join("|"),
  takes: [1, 1],
  about: `For bash, in ~/.bashrc:     source <(npx a2a-edge completion bash)
For zsh, in ~/.zshrc:       source <(npx a2a-edge completion zsh)
For fish:                   npx a2a-edge completion fish > ~/.config/fish/completions/a2a-edge.fish`,
  async run({ print, args: [shell] }) {
    if (!Object.hasOwn(SHELLS, shell))
      throw new Failure(`There is no completion for "${shell}"; there is one for ${Object.keys(SHELLS).join(", ")}.`, EXIT.usage);
    const options = Object.fromEntries(Object.entries({ deploy: DEPLOY_OPTIONS, rollback: ROLLBACK_OPTIONS }).map(([name, given]) => [name, named(given)]));
    for (const name of Object.keys(OPERATE)) options[name] = named((await commandOf(name)).options ?? {});
    await print.line(SHELLS[shell](options));
  },
};

const named = (options) => Object.keys(options).map((option) => `--${option}`);
const all = Object.entries({ ...COMMANDS, ...OPERATE });
const names = all.map(([name]) => name).join(" ");
const cases = (options) =>
  Object.entries(options)
    .map(([name, given]) => `    ${name}) words="${[...given, "--help"].join(" ")}" ;;`)
    .join("\n");

function bash(options) {
  return `_a2a_edge() {
  local words="--help"
  case "\${COMP_WORDS[1]}" in
${cases(options)}
  esac
  if [ "$COMP_CWORD" = 1 ]; then words="${names}"; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _a2a_edge a2a-edge`;
}

/** zsh runs the script of bash. */
function zsh(options) {
  return `autoload -Uz compinit bashcompinit && compinit && bashcompinit\n${bash(options)}`;
}

function fish(options) {
  const lines = all.map(([name, does]) => `complete -c a2a-edge -n __fish_use_subcommand -f -a ${name} -d '${does.replaceAll("'", "\\'")}'`);
  const own = Object.entries(options).flatMap(([name, given]) =>
    given.map((option) => `complete -c a2a-edge -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
  );
  return [...lines, ...own].join("\n");
}
