import { CoreError } from "../core/errors.ts";
import type { Packet } from "../core/route/packet.ts";
import { openConntrackTable } from "../platform/linux/conntrack/conntrack-table.ts";
import { systemExec } from "../platform/linux/exec.ts";
import { compareWithVerdict } from "../platform/linux/live-rules/compare-verdict.ts";
import { explainDirect } from "../platform/linux/live-rules/explain-direct.ts";
import { explainFast } from "../platform/linux/live-rules/explain-fast.ts";
import { explainLive } from "../platform/linux/live-rules/explain-live.ts";
import { readOwnAddresses } from "../platform/linux/live-rules/read-live-facts.ts";
import { NFT_TABLES } from "../platform/linux/nft/nft-tables.ts";
import type { LiveAnswer } from "./backend.ts";

const ROOT = 0;

/** What the rules and tracked flows of this kernel say, whichever tool or program made them. @throws CoreError */
export async function linuxLiveAnswer(packet: Packet): Promise<LiveAnswer> {
  if (process.platform !== "linux" || process.getuid?.() !== ROOT) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      "reading the kernel's rules and flows: not allowed; run it as root, on Linux",
    );
  }
  const direct = await explainDirect(packet);
  const { outcomes, doubts, lines } = await explainLive(packet, {
    exec: systemExec,
    openConntrack: openConntrackTable,
    listTables: NFT_TABLES.list,
    ownAddresses: readOwnAddresses,
  });
  return {
    lines: [...direct.lines, ...(await explainFast(packet)), ...lines],
    differencesFrom: (verdict) => [
      ...direct.differencesFrom(verdict),
      ...compareWithVerdict(outcomes, verdict),
    ],
    doubtsAbout: (verdict) => doubts((ways) => compareWithVerdict(ways, verdict).length === 0),
  };
}
