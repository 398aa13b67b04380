import { openTcpFlowTable, type TcpFlowTable } from "../platform/linux/conntrack/tcp-flow-table.ts";
import { systemExec } from "../platform/linux/exec.ts";
import {
  type OpenedFastPlane,
  openFastPlane,
} from "../platform/linux/fast-path/open-fast-plane.ts";
import {
  type ForwardedPackets,
  openForwardedPackets,
} from "../platform/linux/forwarded-packets.ts";
import { readLegacyTables } from "../platform/linux/iptables/legacy-tables.ts";
import { type PlainLink, plainEthernetLinks } from "../platform/linux/links/ethernet-links.ts";
import { LinkTable } from "../platform/linux/links/link-table.ts";
import { watchLinks } from "../platform/linux/links/route-watch.ts";
import { listBaseChains } from "../platform/linux/nft/base-chains.ts";
import { findOnlooker, type OwnRules } from "../platform/linux/onlookers.ts";
import { type KernelClock, SYSTEM_CLOCK } from "./kernel-clock.ts";

/** The links of a network namespace that the programs may be at. */
export interface FastLinks {
  list(): Promise<readonly PlainLink[]>;
  close(): void;
}

/** What the fast path takes from the kernel of its network namespace; tests give their own. */
export interface FastWorld {
  open(): OpenedFastPlane;
  openTable(): TcpFlowTable;
  /** @param onChange is called where the list may be another one */
  openLinks(onChange: () => void): FastLinks;
  openForwarded(): ForwardedPackets;
  /** Whose rules would miss packets, in words. @throws CoreError ERR_SYSTEM_CALL */
  findOnlooker(own: OwnRules): Promise<string | undefined>;
  readonly every: KernelClock["every"];
}

/** In the network namespace of this thread. */
export function findOnlookerHere(own: OwnRules): Promise<string | undefined> {
  return findOnlooker(own, { exec: systemExec, listBaseChains, legacyTables: readLegacyTables });
}

export const SYSTEM_FAST_WORLD: FastWorld = {
  every: SYSTEM_CLOCK.every,
  open: openFastPlane,
  openTable: openTcpFlowTable,
  openForwarded: openForwardedPackets,
  findOnlooker: findOnlookerHere,
  openLinks: (onChange) => {
    const table = new LinkTable();
    const watch = watchLinks(onChange);
    return {
      list: () => plainEthernetLinks(table),
      close: () => {
        watch.close();
        table.close();
      },
    };
  },
};
