/**
 * `drs completion`: prints a script that completes command lines in a shell. The script has the names of all commands
 * and options, so that a key press starts no process.
 */
import { Argument, Command } from "commander";
import { type Context, printText } from "./context.ts";
import { example } from "./options.ts";

interface Described {
  readonly name: string;
  readonly description: string;
}

interface DescribedOption extends Described {
  /** `--output`, and `-o` if there is one. */
  readonly flags: readonly string[];
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** What may follow the words of a command, each preceded by a blank, such as ` hold list`. */
interface Place {
  readonly path: string;
  /** Commands, and values of arguments. */
  readonly commands: readonly Described[];
  readonly options: readonly DescribedOption[];
}

export function completionCommand(context: Context): Command {
  return new Command("completion")
    .addArgument(new Argument("<shell>", "the shell that runs the script").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      example(
        "drs completion bash > ~/.local/share/bash-completion/completions/drs",
        "drs completion zsh > ~/.zfunc/_drs    # a folder of fpath",
        "drs completion fish > ~/.config/fish/completions/drs.fish",
      ),
    )
    .action(async (shell: keyof typeof SCRIPTS) => {
      const { createProgram } = await import("./program.ts");
      printText(context, SCRIPTS[shell](placesOf(await createProgram(context))).trimEnd());
    });
}

function placesOf(command: Command, path = ""): readonly Place[] {
  const place = {
    path,
    commands: [
      ...command.commands.map((inner) => ({ name: inner.name(), description: inner.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
        argChoices.map((name) => ({ name, description: "" })),
      ),
    ],
    options: [...command.options.map(optionOf), HELP],
  };
  return [place, ...command.commands.flatMap((inner) => placesOf(inner, `${path} ${inner.name()}`))];
}

function optionOf({ long, short, required, description, argChoices }: Command["options"][number]): DescribedOption {
  const flags = [long, short].filter((flag) => flag !== undefined);
  return { name: flags[0] ?? "", flags, description, takesValue: required, choices: argChoices ?? [] };
}

const HELP = { name: "--help", flags: ["--help", "-h"], description: "print help", takesValue: false, choices: [] };

/** The words at which a value follows, each as the path and the flag. */
const valuesOf = (places: readonly Place[]): readonly { readonly at: string; readonly choices: readonly string[] }[] =>
  places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags, choices }) => flags.map((flag) => ({ at: `${path} ${flag}`, choices }))),
  );

const namesOf = (all: readonly Described[]): string => all.map(({ name }) => name).join(" ");
const pathsOf = (places: readonly Place[]): readonly string[] =>
  places.map(({ path }) => path).filter((path) => path !== "");
const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
/** A text in single quotes, as bash and zsh read it. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const bash = (places: readonly Place[]): string => `_drs() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} at= commands= options= i
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${pathsOf(places).map(quoted).join(" | ")}) at+=" \${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at $before" in
${lines(valuesOf(places).map(({ at, choices }) => `    ${quoted(at)}) COMPREPLY=($(compgen -W ${quoted(choices.join(" "))} -- "$word")); return ;;`))}  esac
  case $at in
${lines(places.map(({ path, commands, options }) => `    ${quoted(path)}) commands=${quoted(namesOf(commands))} options=${quoted(namesOf(options))} ;;`))}  esac
  if [[ $word == -* ]]; then commands=$options; fi
  COMPREPLY=($(compgen -W "$commands" -- "$word"))
}
complete -o default -F _drs drs
`;

/** `_describe` separates a name and its description by a colon. */
const zshItem = ({ name, description }: Described): string => quoted(`${name}:${description.replaceAll(":", "\\:")}`);
const zshItems = (all: readonly Described[]): string => all.map(zshItem).join(" ");

const zsh = (places: readonly Place[]): string => `#compdef drs
_drs() {
  local at= i
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
      (${pathsOf(places).map(quoted).join("|")}) at+=" $words[i]" ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
${lines(valuesOf(places).map(({ at, choices }) => `    (${quoted(at)}) ${choices.length > 0 ? `compadd -- ${choices.map(quoted).join(" ")}` : "_files"}; return ;;`))}  esac
  case $at in
${lines(places.map(({ path, commands, options }) => `    (${quoted(path)}) commands=(${zshItems(commands)}) options=(${zshItems(options)}) ;;`))}  esac
  if [[ $PREFIX == -* ]]; then _describe option options
  elif (( $#commands )); then _describe command commands
  else _files; fi
}
if [[ $funcstack[1] == _drs ]]; then _drs "$@"; else compdef _drs drs; fi
`;

const fishQuoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;

const fishOption = (path: string, { flags, description, takesValue, choices }: DescribedOption): string => {
  const named = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(" ");
  const value = choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(" "))}` : takesValue ? " -r" : "";
  return `complete -c drs -n ${fishQuoted(`__drs_at ${fishQuoted(path)}`)} ${named}${value} -d ${fishQuoted(description)}`;
};

const fish = (places: readonly Place[]): string => `function __drs_at
    set -l at
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word" ${pathsOf(places).map(fishQuoted).join(" ")}
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
${lines(
  places.flatMap(({ path, commands, options }) => [
    ...commands.map(
      ({ name, description }) =>
        `complete -c drs -f -n ${fishQuoted(`__drs_at ${fishQuoted(path)}`)} -a ${name} -d ${fishQuoted(description)}`,
    ),
    ...options.map((option) => fishOption(path, option)),
  ]),
)}`;

const SCRIPTS = { bash, zsh, fish } as const;
