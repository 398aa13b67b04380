/**
 * Tunnels between two hosts (network namespaces joined by a veth pair): one TCP stream, small datagrams and
 * echoes through a service of Portolan, beside direct veth, kernel VXLAN, tinc, wireguard-go and a plain
 * program in C; in turns, medians. Then what flows cost (`--only flows`), and how long a
 * change takes to be with all nodes of a manager (`--only nodes`).
 *
 *     npm run bench -- edge [--rounds 3] [--seconds 3] [--only NAME] [--load tcp|udp|echo] [--nodes 1000] [--json]
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Contestant,
  direct,
  onePacket,
  portolan,
  tinc,
  vxlan,
  wireguardGo,
} from "./edge/contestants.ts";
import { LOAD_NAMES, type Load, measureLoad } from "./edge/loads.ts";
import { measureNodes } from "./edge/nodes-part.ts";
import { Pair, stopAll } from "./edge/pair.ts";
import { runTask } from "./support/child.ts";
import { median } from "./support/measure.ts";
import { removeAtExit } from "./support/remove-at-exit.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";
import { numbersFrom } from "./support/results.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    only: { type: "string", multiple: true },
    load: { type: "string", multiple: true, default: [...LOAD_NAMES] },
    nodes: { type: "string", default: "1000" },
    json: { type: "boolean", default: false },
  },
});
/** Longer than there are pauses between echoes. */
const AWAKE_MS = 2000;
const FLOW_COSTS = [
  "fewNs",
  "manyNs",
  "inOrderNs",
  "refreshedNs",
  "lineFewNs",
  "lineManyNs",
  "megabytes",
  "flowsInTheEnd",
  "megabytesInTheEnd",
] as const;
const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
const removeFolder = removeAtExit(folder);
const fast = portolan("fast");
const secure = portolan("secure");
/** As it is where the kernel can not do it, or shall not. */
const OFF = { kernelPath: "off" } as const;
const without = [portolan("fast", OFF), portolan("secure", OFF)];
const awake = [
  portolan("fast", { ...OFF, awakeMs: AWAKE_MS }),
  portolan("secure", { ...OFF, awakeMs: AWAKE_MS }),
];
const plain = onePacket(folder);
const all = [direct, vxlan, fast, secure, ...without, ...awake, plain, tinc(folder), wireguardGo];
const contestants = all.filter(
  ({ name }) => values.only === undefined || values.only.some((part) => name.includes(part)),
);
const results = new Map<Contestant, Load[]>();
try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const contestant of contestants) {
      const load = await measure(contestant, Number(values.seconds));
      if (load !== undefined) results.set(contestant, [...(results.get(contestant) ?? []), load]);
    }
  }
} finally {
  removeFolder();
}
const wantsFlows = values.only === undefined || values.only.some((part) => "flows".includes(part));
const wantsNodes = values.only === undefined || values.only.includes("nodes");
const figures = [...tellAll(), ...compare(), ...(wantsFlows ? await tellFlows() : [])];
if (wantsNodes) figures.push(...(await measureNodes(Number(values.nodes))));
console.log(values.json ? renderJson(figures) : renderTable(figures));
if (!figures.every(isMet)) process.exitCode = 1;

async function measure(contestant: Contestant, seconds: number): Promise<Load | undefined> {
  const pair = new Pair();
  try {
    const { to, children } = await contestant.start(pair);
    try {
      const { loads = values.load } = contestant;
      const wanted = new Set(values.load.filter((load) => loads.includes(load)));
      return await measureLoad(pair, to, seconds, wanted);
    } finally {
      await stopAll(children);
      contestant.stop?.(pair);
    }
  } catch (error) {
    console.error(`${contestant.name} did not run: ${String(error)}`);
    return undefined;
  } finally {
    pair.close();
  }
}

function of(contestant: Contestant, what: keyof Load): number | undefined {
  const values = (results.get(contestant) ?? []).flatMap((load) => load[what] ?? []);
  return values.length === 0 ? undefined : median(values);
}

function tellAll(): readonly Figure[] {
  const units = [
    ["gigabits", "Gbit/s", "one TCP stream"],
    ["kilopackets", "kpps", "64-byte datagrams"],
    ["kilopacketsRead", "kpps", "those that iperf3 had time to read"],
    ["echoUs", "µs", "echo, median"],
  ] as const;
  return units.flatMap(([what, unit, title]) =>
    contestants.flatMap((contestant) => {
      const value = of(contestant, what);
      return value === undefined ? [] : [{ name: `${title}: ${contestant.name}`, value, unit }];
    }),
  );
}

async function tellFlows(): Promise<readonly Figure[]> {
  const task = new URL("./edge/tasks/flows.js", import.meta.url);
  const costs = numbersFrom(await runTask(task, []), FLOW_COSTS);
  return [
    { name: "a packet among 1,000 flows", value: costs.fewNs, unit: "ns" },
    { name: "a packet among 100,000 flows, at random", value: costs.manyNs, unit: "ns" },
    { name: "the same, flows in the order of their making", value: costs.inOrderNs, unit: "ns" },
    { name: "the same at random, as time goes on", value: costs.refreshedNs, unit: "ns" },
    { name: "one line of the memory of 1,000 flows", value: costs.lineFewNs, unit: "ns" },
    { name: "one line of the memory of 100,000 flows", value: costs.lineManyNs, unit: "ns" },
    { name: "memory of 100,000 flows", value: costs.megabytes, unit: "MB" },
    {
      name: "flows after 500,000 more",
      value: costs.flowsInTheEnd,
      unit: "flows",
      limit: 120_000,
    },
    { name: "memory of these", value: costs.megabytesInTheEnd, unit: "MB" },
  ];
}

function compare(): readonly Figure[] {
  const times = (
    name: string,
    limit: number | undefined,
    a: number | undefined,
    b: number | undefined,
  ) =>
    a === undefined || b === undefined
      ? []
      : [{ name, value: a / b, unit: "times", limit, bound: "least" } as const];
  const own = [fast, secure];
  const echoes = [...own, ...without, ...awake, plain, wireguardGo].flatMap(
    (contestant): Figure[] => {
      const [through, without] = [of(contestant, "echoUs"), of(direct, "echoUs")];
      if (through === undefined || without === undefined) return [];
      const name = `added to an echo: ${contestant.name}`;
      const figure = { name, value: through - without, unit: "µs" };
      return [own.includes(contestant) ? { ...figure, limit: 100 } : figure];
    },
  );
  const wire = contestants.find(({ name }) => name === wireguardGo.name) ?? wireguardGo;
  return [
    ...times("TCP: fast beside C", 3, of(fast, "gigabits"), of(plain, "gigabits")),
    ...times("TCP: secure beside C", 1, of(secure, "gigabits"), of(plain, "gigabits")),
    ...times("TCP: secure beside wireguard-go", 3, of(secure, "gigabits"), of(wire, "gigabits")),
    ...times("datagrams: fast beside C", 1.5, of(fast, "kilopackets"), of(plain, "kilopackets")),
    ...times(
      "  the same by those that iperf3 had time to read",
      undefined,
      of(fast, "kilopacketsRead"),
      of(plain, "kilopacketsRead"),
    ),
    ...echoes,
  ];
}
