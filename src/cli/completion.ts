import { CoreError } from "../core/errors.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { completionModel, SHELLS, type Shell } from "./completion/completion-model.ts";
import { renderBash } from "./completion/render-bash.ts";
import { renderFish } from "./completion/render-fish.ts";
import { renderZsh } from "./completion/render-zsh.ts";
import { EXIT_OK } from "./exit-codes.ts";

export const COMPLETION: CommandSpec = {
  name: "completion",
  summary: "print a completion script for a shell",
  arguments: [{ name: "SHELL", help: "the shell", values: SHELLS }],
  optionGroups: [],
  examples: [
    { help: "in ~/.bashrc", command: "completion bash > ~/.portolan-completion.bash" },
    { help: "in fish", command: "completion fish | source" },
  ],
  run: complete,
};

const RENDERERS: Readonly<Record<Shell, typeof renderBash>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
};

async function complete({ args, context, loadCommands }: CommandInput): Promise<number> {
  const shell = SHELLS.find((name) => name === args[0]);
  if (shell === undefined) {
    throw new CoreError("ERR_USAGE", `"${args[0]}" is not valid; expected ${SHELLS.join(", ")}`);
  }
  context.stdout.write(RENDERERS[shell](completionModel(await loadCommands())));
  return EXIT_OK;
}
