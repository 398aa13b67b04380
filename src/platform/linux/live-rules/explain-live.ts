import { familyOf, formatHostPort } from "../../../core/model/address.ts";
import type { Packet } from "../../../core/route/packet.ts";
import type { Flow } from "../../../wire/netlink/conntrack/flow.ts";
import type { ConntrackTable } from "../conntrack/conntrack-table.ts";
import { describeDormant, describeOutcomes } from "./describe-outcomes.ts";
import type { LiveWorld } from "./read-live-facts.ts";
import { readLiveRules } from "./read-live-rules.ts";
import { type LiveWalk, walkHere } from "./walk-here.ts";

/** What the kernel itself would do with a packet. */
export interface LiveExplanation extends LiveWalk {
  /** For people: rules, elements, tracked flows. */
  readonly lines: readonly string[];
}

/**
 * Reads rules and tracked flows of this network namespace and follows the packet through them.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE, ERR_PROGRAM_FAILED, ERR_SYSTEM_CALL
 */
export async function explainLive(packet: Packet, world: LiveWorld): Promise<LiveExplanation> {
  const rules = await readLiveRules(world);
  const { outcomes, doubts } = await walkHere(rules, packet, world);
  const flows = await readFlows(packet, world.openConntrack);
  return {
    outcomes,
    doubts,
    lines: [
      ...describeDormant(rules),
      ...describeOutcomes(outcomes),
      ...describeFlows(flows, packet),
    ],
  };
}

/** Those to the same address and port: a packet of one of them does not meet the rules that translate. */
async function readFlows(packet: Packet, open: () => ConntrackTable): Promise<readonly Flow[]> {
  const { protocol, dst, dstPort } = packet;
  const table = open();
  try {
    const flows: Flow[] = [];
    await table.list(
      { family: familyOf(dst), protocol, dstPort },
      (ofProtocol, port) => ofProtocol === protocol && port === dstPort,
      (flow) => {
        if (flow.original.dst === dst) flows.push(flow);
      },
    );
    return flows;
  } finally {
    table.close();
  }
}

/** Rules that translate are asked for the first packet of a flow only. */
const OWN = " (the packet is of this flow: it goes there, whatever rules say now)";

/** More flows than these are summed up. */
const MAX_FLOWS = 10;

function describeFlows(flows: readonly Flow[], packet: Packet): readonly string[] {
  const where = formatHostPort(packet.dst, packet.dstPort);
  if (flows.length === 0) return [`no tracked flow to ${where}`];
  const own = flows.filter(({ original }) => isOf(original, packet));
  const shown = [...own, ...flows.filter((flow) => !own.includes(flow))].slice(0, MAX_FLOWS);
  const more = flows.length - shown.length;
  return [
    `${flows.length} tracked ${flows.length === 1 ? "flow" : "flows"} to ${where}`,
    ...shown.map((flow) => `  ${describeFlow(flow)}${own.includes(flow) ? OWN : ""}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function isOf(original: Flow["original"], { src, srcPort }: Packet): boolean {
  return original.src === src && original.srcPort === srcPort;
}

function describeFlow({ original, reply, isDestinationNat }: Flow): string {
  const from = formatHostPort(original.src, original.srcPort);
  const to = formatHostPort(reply.src, reply.srcPort);
  const isMasqueraded = reply.dst !== original.src;
  const as = isMasqueraded ? ` as ${formatHostPort(reply.dst, reply.dstPort)}` : "";
  return isDestinationNat ? `from ${from} goes to ${to}${as}` : `from ${from} is not translated`;
}
