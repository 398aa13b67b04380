import { CoreError } from "../core/errors.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import { describeVerdict, verdictToJson } from "../core/route/describe.ts";
import type { Packet, RequestHint } from "../core/route/packet.ts";
import { POLICY_OPTIONS, routePolicyOf } from "../core/route/policy-options.ts";
import { createRouter, type Router } from "../core/route/route.ts";
import { createSource } from "../daemon/create-source.ts";
import { etcdAccessFor } from "../daemon/etcd-access.ts";
import { KUBE_OPTIONS } from "../daemon/kube-options.ts";
import { API_CLIENT_OPTIONS, ETCD_OPTIONS, FILE_OPTIONS } from "../daemon/options.ts";
import { parseSourceSpec } from "../daemon/source-spec.ts";
import { takeSnapshot } from "../daemon/take-snapshot.ts";
import { WORLD } from "../daemon/world.ts";
import {
  askLiveOf,
  BACKEND_OPTIONS,
  backendNotes,
  compareLive,
  describeLive,
  describeNotes,
  isAgreed,
} from "./backend-notes.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_FAILED, EXIT_OK } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { noteUnknownNode } from "./note-unknown-node.ts";
import { parsePacket } from "./parse-packet.ts";

const PACKET_OPTIONS = {
  from: {
    kind: "list",
    placeholder: "SOURCE",
    suggestions: ["file:", "kube", "api:", "api:unix:"],
    help: "where the state comes from: file:PATH, kube, kube:CONTEXT, api:HOST:PORT, api:unix:PATH; may be repeated",
  },
  node: {
    kind: "string",
    placeholder: "NAME",
    help: "the node that the packet is on; the host name when not given",
  },
  src: { kind: "string", placeholder: "IP", help: "address of the client" },
  dst: {
    kind: "string",
    placeholder: "IP:PORT",
    help: "where it wants to go, with /udp or /sctp where it is not TCP",
  },
  in: {
    kind: "enum",
    values: ["node", "workload", "outside"],
    help: "where it comes from; told from the source address when not given",
  },
  host: { kind: "string", placeholder: "NAME", help: "the host that the request names" },
  path: { kind: "string", placeholder: "PATH", help: "the path that the request names" },
} as const;

export const EXPLAIN: CommandSpec = {
  name: "explain",
  summary: "say where a packet goes, and why",
  description:
    "With `--live` the exit code is 1 where the data plane does otherwise than the reference says, or where that can not be told, and 0 where it agrees.",
  arguments: [],
  optionGroups: [
    { title: "Packet", specs: PACKET_OPTIONS },
    { title: "Policy", specs: POLICY_OPTIONS },
    { title: "Backend", specs: BACKEND_OPTIONS },
    { title: "Output", specs: JSON_OPTION },
    { title: "State files", specs: FILE_OPTIONS },
    { title: "Kubernetes (--from kube)", specs: KUBE_OPTIONS },
    { title: "API client (--from api:)", specs: API_CLIENT_OPTIONS },
    { title: "etcd (--from etcd:)", specs: ETCD_OPTIONS },
  ],
  examples: [
    {
      help: "from a workload to a cluster IP",
      command: "explain --from file:state.yaml --node node-a --src 10.1.0.5 --dst 10.96.0.10:80",
    },
    {
      help: "from outside to a node port, for a script",
      command:
        "explain --from file:state.yaml --node node-a --src 203.0.113.9 --dst 192.0.2.1:30080 --in outside --json",
    },
    {
      help: "beside it what the kernel's rules do with the packet at this moment",
      command:
        "explain --from file:state.yaml --node node-a --src 10.1.0.5 --dst 10.96.0.10:80 --backend nftables --live",
    },
  ],
  run: explain,
};

async function explain(input: CommandInput): Promise<number> {
  const { context } = input;
  const options = resolveFlags(PACKET_OPTIONS, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  const policy = routePolicyOf(resolveFlags(POLICY_OPTIONS, input));
  const { src, dst } = requirePacket(options);
  const { origin, target } = parsePacket(src, dst);
  const backend = resolveFlags(BACKEND_OPTIONS, input);
  const notes = await backendNotes(backend);
  const askLive = await askLiveOf(backend);
  const node = options.node ?? context.hostName;

  const router = await openRouter(input, options.from, node);
  const from = options.in ?? router.originOf(origin.src);
  const packet: Packet = { ...origin, ...target, from, ...hintOf(options) };
  const verdict = router.route(packet, policy);
  const answered = await askLive?.(packet);
  const live = answered && compareLive(answered, verdict);
  const answer = {
    node,
    from,
    ...verdictToJson(verdict),
    ...(notes && { backend: notes }),
    ...(live && { live }),
  };
  const lines = [
    ...describeVerdict(verdict),
    ...describeNotes(notes),
    ...(live === undefined ? [] : describeLive(live)),
  ];
  context.stdout.write(`${json ? JSON.stringify(answer) : lines.join("\n")}\n`);
  return live === undefined || isAgreed(live) ? EXIT_OK : EXIT_FAILED;
}

function requirePacket(options: ValuesOf<typeof PACKET_OPTIONS>): { src: string; dst: string } {
  const { from, src, dst } = options;
  const missing = [
    ...(from.length === 0 ? ["--from SOURCE"] : []),
    ...(src === undefined ? ["--src IP"] : []),
    ...(dst === undefined ? ["--dst IP:PORT"] : []),
  ];
  if (src !== undefined && dst !== undefined && missing.length === 0) return { src, dst };
  throw new CoreError("ERR_USAGE", `missing; expected ${missing.join(", ")}`);
}

async function openRouter(
  input: CommandInput,
  from: readonly string[],
  node: string,
): Promise<Router> {
  const values = {
    ...resolveFlags(FILE_OPTIONS, input),
    ...resolveFlags(KUBE_OPTIONS, input),
    ...resolveFlags(API_CLIENT_OPTIONS, input),
  };
  const specs = from.map((text) => parseSourceSpec(text));
  const { environment } = input.context;
  const etcd = await etcdAccessFor(
    specs,
    undefined,
    resolveFlags(ETCD_OPTIONS, input),
    environment,
  );
  const world = { ...WORLD, node: undefined, etcd };
  const sources = await Promise.all(specs.map((spec) => createSource(spec, values, world)));
  const store = await takeSnapshot(sources);
  noteUnknownNode(store, node, input.context);
  return createRouter({ global: store.state(), node });
}

function hintOf({ host, path }: ValuesOf<typeof PACKET_OPTIONS>): { hint?: RequestHint } {
  if (host === undefined && path === undefined) return {};
  return { hint: { host: host ?? "", path: path ?? "" } };
}
