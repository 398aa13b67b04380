import { writeFile } from "node:fs/promises";
import { callInstance } from "../daemon/instance-socket/client.ts";
import { INSTANCE_OPTIONS } from "../daemon/options.ts";
import { instancePath } from "../daemon/presence.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { resolveFlags } from "./flags.ts";

const { state } = INSTANCE_OPTIONS;

const PROFILE_OPTIONS = {
  seconds: {
    kind: "number",
    min: 1,
    max: 3600,
    default: 10,
    help: "for how long the loop is looked at",
  },
  out: {
    kind: "string",
    placeholder: "FILE.cpuprofile",
    help: "where the profile is written; LOOP.cpuprofile when not given",
  },
} as const;

export const PROFILE: CommandSpec = {
  name: "profile",
  summary: "take a CPU profile of a running event loop",
  description:
    "The loop goes on meanwhile. The file opens in the developer tools of Chromium and in VS Code. A loop that does not exist is answered with those that do.",
  arguments: [{ name: "LOOP", help: "the name of the loop, such as worker-1" }],
  optionGroups: [
    { title: "Profile", specs: PROFILE_OPTIONS },
    { title: "Instance", specs: { state } },
  ],
  examples: [
    { help: "ten seconds of the first loop", command: "profile worker-1" },
    {
      help: "half a minute, of the instance with that folder",
      command: "profile worker-2 --seconds 30 --state /run/lb --out busy.cpuprofile",
    },
  ],
  run: profile,
};

async function profile(input: CommandInput): Promise<number> {
  const { args, context } = input;
  const [loop = ""] = args;
  const { seconds, out, state: folder } = resolveFlags({ ...PROFILE_OPTIONS, state }, input);
  const { profile: text } = await callInstance(instancePath(folder), "profile", { loop, seconds });
  const file = out ?? `${loop}.cpuprofile`;
  await writeFile(file, text);
  context.stdout.write(`${file}\n`);
  return EXIT_OK;
}
