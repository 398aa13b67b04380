import { mkdir } from "node:fs/promises";
import { EDGE_OPTIONS } from "../../backends/edge/options.ts";
import type { CommandInput, CommandSpec } from "../command-spec.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { resolveFlags } from "../flags.ts";

const { tunnelFolder } = EDGE_OPTIONS;
const OWNER_ONLY_FOLDER = 0o700;

export const EDGE_KEY: CommandSpec = {
  name: "edge key",
  summary: "print the public key of this machine's tunnel, for the Node in a state",
  description:
    "The private key is made where the folder has none, readable for its user alone, and never printed. run --to edge uses it; edge node and edge join have keys of their own in their state folder.",
  arguments: [],
  optionGroups: [{ title: "Tunnel", specs: { tunnelFolder } }],
  examples: [{ help: "what others need to know of this machine", command: "edge key" }],
  run: tell,
};

async function tell(input: CommandInput): Promise<number> {
  const { tunnelFolder: folder } = resolveFlags({ tunnelFolder }, input);
  const { tunnelKeyIn } = await import("../../edge/overlay/tunnel-key-file.ts");
  const { publicTunnelKey } = await import("../../edge/tunnel/tunnel-keys.ts");
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  input.context.stdout.write(`${publicTunnelKey(await tunnelKeyIn(folder))}\n`);
  return EXIT_OK;
}
