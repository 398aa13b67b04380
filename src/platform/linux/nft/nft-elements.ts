import { CoreError } from "../../../core/errors.ts";
import { NETLINK_NETFILTER } from "../../../wire/netlink/conntrack/conntrack-words.ts";
import {
  type ElementMessage,
  writeElementBatch,
} from "../../../wire/netlink/nftables/element-batch.ts";
import {
  type DumpedContainer,
  ElementDumpReader,
  writeElementDump,
} from "../../../wire/netlink/nftables/element-dump.ts";
import type { ElementText } from "../../../wire/netlink/nftables/element-encoder.ts";
import type { ElementLayout } from "../../../wire/netlink/nftables/element-layout.ts";
import { ERRNO } from "../../errno.ts";
import { NetlinkSocket, requestError } from "../netlink/netlink-socket.ts";

/** How a transaction ended that was not refused outright. */
export type TransactionOutcome =
  | { readonly kind: "applied" }
  /** The kernel holds something else than was thought, and did nothing. */
  | { readonly kind: "unexpected"; readonly error: CoreError };

/**
 * Changes elements without the program `nft`, whose start and end take longer than the change: a netlink
 * socket that is closed after something was deleted waits until no packet can see it any more. This one
 * stays open.
 */
export interface NftElements {
  /** Runs messages, at least one, as one transaction. @throws CoreError ERR_SYSTEM_CALL */
  run(messages: readonly ElementMessage[]): Promise<TransactionOutcome>;
  /**
   * All elements of a set or map. Undefined where they can not be told so: it is not there, holds what is
   * not of the layout, or was changed meanwhile.
   * @throws CoreError ERR_SYSTEM_CALL
   */
  list(
    container: DumpedContainer,
    layout: ElementLayout,
  ): Promise<readonly ElementText[] | undefined>;
  close(): void;
}

const APPLIED: TransactionOutcome = { kind: "applied" };
/** What was to be deleted is not there, or what was to be added is. */
const UNEXPECTED: ReadonlySet<number> = new Set([ERRNO.ENOENT, ERRNO.EEXIST]);

/** In the network namespace that this thread is in. @throws CoreError ERR_SYSTEM_CALL */
export function openNftElements(): NftElements {
  const socket = new NetlinkSocket(NETLINK_NETFILTER);
  return {
    run: async (messages) => {
      const { failures, isOverrun } = await socket.exchange({
        count: messages.length,
        write: (writer, first) => writeElementBatch(writer, first, messages),
      });
      if (isOverrun) {
        throw new CoreError("ERR_SYSTEM_CALL", "changing elements: the kernel's answer was lost");
      }
      const failure = failures.find(({ errno }) => !UNEXPECTED.has(errno)) ?? failures[0];
      if (failure === undefined) return APPLIED;
      const error = requestError(wordsOf(messages[failure.index]), failure);
      if (!UNEXPECTED.has(failure.errno)) throw error;
      return { kind: "unexpected", error };
    },
    list: async (container, layout) => {
      const elements: ElementText[] = [];
      const reader = new ElementDumpReader(layout, (element) => elements.push(element));
      const { failures, isInterrupted, isOverrun } = await socket.exchange({
        count: 1,
        write: (writer, sequence) => writeElementDump(writer, sequence, container),
        onMessage: (view, from, to) => reader.feed(view, from, to),
      });
      const isWhole = failures.length === 0 && !isInterrupted && !isOverrun && !reader.isStrange;
      return isWhole ? elements : undefined;
    },
    close: () => socket.close(),
  };
}

/** As the command that says the same. */
function wordsOf(message: ElementMessage | undefined): string {
  if (message === undefined) return "changing elements";
  const { verb, family, table, container } = message;
  return `${verb} element ${family === "v4" ? "ip" : "ip6"} ${table} ${container}`;
}
