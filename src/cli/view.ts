import { renderOp } from "../backends/print/render-op.ts";
import { renderState } from "../backends/print/render-state.ts";
import { FURTHER_SETS } from "../core/sinks/decoder.ts";
import { createFullStateSink } from "../core/sinks/fullstate.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import type { Op } from "../core/view/ops.ts";
import { FILE_OPTIONS } from "../daemon/options.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { loadStore } from "./load-store.ts";
import { noteUnknownNode } from "./note-unknown-node.ts";

const VIEW_OPTIONS = {
  node: { kind: "string", placeholder: "NAME", help: "the node; the host name when not given" },
  format: {
    kind: "enum",
    values: ["yaml", "json", "ops"],
    default: "yaml",
    help: "yaml, json: the state; ops: the operations that the node is sent",
  },
} as const;

export const VIEW: CommandSpec = {
  name: "view",
  summary: "print what one node is sent of a state",
  arguments: [{ name: "FILE", help: "a state file, a folder of them, or - for standard input" }],
  optionGroups: [
    { title: "Output", specs: { ...VIEW_OPTIONS, ...JSON_OPTION } },
    { title: "State files", specs: FILE_OPTIONS },
  ],
  examples: [
    { help: "what node-a is to know", command: "view state.yaml --node node-a" },
    { help: "the same as operations", command: "view state.yaml --node node-a --format ops" },
  ],
  run: view,
};

async function view(input: CommandInput): Promise<number> {
  const { context } = input;
  const [path = ""] = input.args;
  const options = resolveFlags(VIEW_OPTIONS, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  const { maxFileBytes } = resolveFlags(FILE_OPTIONS, input);
  const node = options.node ?? context.hostName;
  const format = json ? "json" : options.format;
  const { store } = await loadStore(path, maxFileBytes, context);
  noteUnknownNode(store, node, context);
  const ops = opsOf(store, node);
  context.stdout.write(
    format === "ops"
      ? ops.map((op) => `${renderOp(op)}\n`).join("")
      : await renderWhole(ops, node, format),
  );
  return EXIT_OK;
}

function opsOf(store: GlobalStore, node: string): readonly Op[] {
  const watcher = new NodeWatcher(store, node, FURTHER_SETS);
  try {
    return watcher.poll() ?? [];
  } finally {
    watcher.close();
  }
}

async function renderWhole(
  ops: readonly Op[],
  nodeName: string,
  format: "yaml" | "json",
): Promise<string> {
  let text = "";
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName, sets: FURTHER_SETS }),
    apply: (state) => {
      text = renderState(nodeName, state, format);
    },
  });
  for (const op of ops) {
    if (op.op === "reset") sink.reset();
    else await sink.send(op);
  }
  return text;
}
