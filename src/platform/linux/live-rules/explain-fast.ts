import { messageOf } from "../../../core/errors.ts";
import type { Packet } from "../../../core/route/packet.ts";
import { hasTcx } from "../bpf/has-tcx.ts";
import { LinkTable } from "../links/link-table.ts";
import { type FastFinding, readFast } from "./read-fast.ts";

/** What packets of connections that stand meet in place of the rules; nothing where a packet is never forwarded. */
export async function explainFast(packet: Packet): Promise<readonly string[]> {
  if (packet.from === "node" || packet.protocol !== "TCP" || !hasTcx()) return [];
  let table: LinkTable | undefined;
  try {
    table = new LinkTable();
    const links = (await table.list()).map(({ link }) => link);
    return describeFast(readFast(packet, links));
  } catch (error) {
    return [
      `what takes the fast path can not be read: ${messageOf(error)}; it takes CAP_SYS_ADMIN`,
    ];
  } finally {
    table?.close();
  }
}

/** The same of what was read. */
export function describeFast(findings: readonly FastFinding[]): readonly string[] {
  return findings.flatMap(({ program, targets }) =>
    targets.size === 0
      ? [`fast path: program ${program} has no connection of these ends; the rules decide`]
      : [
          `fast path: program ${program} passes packets of connections that stand, asking the rules every second:`,
          ...[...targets].map(
            ([target, count]) =>
              `  ${count} ${count === 1 ? "connection" : "connections"} to ${target}`,
          ),
        ],
  );
}
