import process from "node:process";
import { readVersion } from "../daemon/version.ts";
import type { CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";

export const VERSION: CommandSpec = {
  name: "version",
  summary: "print the version",
  arguments: [],
  optionGroups: [{ title: "Output", specs: JSON_OPTION }],
  examples: [{ help: "for a script", command: "version --json" }],
  run: async (input) => {
    const { json } = resolveFlags(JSON_OPTION, input);
    const { version: node, platform, arch } = process;
    const version = readVersion();
    const text = json
      ? JSON.stringify({ version, node, platform, arch })
      : `portolan ${version} (node ${node}, ${platform} ${arch})`;
    input.context.stdout.write(`${text}\n`);
    return EXIT_OK;
  },
};
