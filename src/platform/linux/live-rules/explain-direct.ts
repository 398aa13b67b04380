import { messageOf } from "../../../core/errors.ts";
import { formatHostPort } from "../../../core/model/address.ts";
import type { Packet } from "../../../core/route/packet.ts";
import type { Verdict } from "../../../core/route/verdict.ts";
import { percent } from "./compare-verdict.ts";
import { ownCgroup } from "./own-cgroup.ts";
import { type DirectFinding, readDirect, readWorkloadDirect } from "./read-direct.ts";

/** What a process meets before it sends anything. */
export interface DirectExplanation {
  readonly lines: readonly string[];
  differencesFrom(verdict: Verdict): readonly string[];
}

const NOTHING: DirectExplanation = { lines: [], differencesFrom: () => [] };
const BY_RULES = "other sockets, such as those bound to an address, meet the rules:";
const WORKLOADS_BY_RULES =
  "workloads outside of the cgroup of --direct-connect-workloads, and sockets bound to an address, meet the rules:";

/** Shares may differ by so much. */
const TOLERANCE = 0.001;

/** For processes in the cgroup of this one, and for workloads; nothing where a packet is of somebody else. */
export async function explainDirect(packet: Packet): Promise<DirectExplanation> {
  if (packet.from === "outside" || packet.protocol !== "TCP") return NOTHING;
  try {
    return explainFindings(await findingsOf(packet), packet);
  } catch (error) {
    const lines = [
      `what connect(2) meets can not be read: ${messageOf(error)}; it takes CAP_SYS_ADMIN`,
    ];
    return { ...NOTHING, lines };
  }
}

async function findingsOf(packet: Packet): Promise<readonly DirectFinding[]> {
  if (packet.from === "workload") return readWorkloadDirect(packet);
  const cgroup = await ownCgroup();
  return cgroup === undefined ? [] : readDirect(packet, cgroup);
}

/** The same of what was read. */
export function explainFindings(
  findings: readonly DirectFinding[],
  packet: Packet,
): DirectExplanation {
  const where = formatHostPort(packet.dst, packet.dstPort);
  const lines = findings.flatMap(({ program, shares }) =>
    shares === undefined
      ? [`connect(2): program ${program} leaves ${where} to the rules`]
      : [
          `connect(2): program ${program} leads ${where} to`,
          ...shares.map(
            ({ address, port, probability }) =>
              `  ${percent(probability)}: ${formatHostPort(address, port)}`,
          ),
          packet.from === "workload" ? WORKLOADS_BY_RULES : BY_RULES,
        ],
  );
  return {
    lines,
    differencesFrom: (verdict) => findings.flatMap((finding) => differences(finding, verdict)),
  };
}

function differences({ shares }: DirectFinding, verdict: Verdict): readonly string[] {
  if (shares === undefined) return [];
  const wanted = new Map<string, number>();
  for (const { address, targetPort, probability } of candidatesOf(verdict)) {
    const place = formatHostPort(address, targetPort);
    wanted.set(place, probability + (wanted.get(place) ?? 0));
  }
  const actual = new Map(
    shares.map(({ address, port, probability }) => [formatHostPort(address, port), probability]),
  );
  return [...new Set([...wanted.keys(), ...actual.keys()])].flatMap((place) => {
    const [should, is] = [wanted.get(place) ?? 0, actual.get(place) ?? 0];
    if (Math.abs(should - is) <= TOLERANCE) return [];
    return [
      `connect(2) leads to ${place}: ${percent(is)}, where the reference says ${percent(should)}`,
    ];
  });
}

function candidatesOf(verdict: Verdict) {
  return verdict.kind === "endpoints" ? verdict.candidates : [];
}
