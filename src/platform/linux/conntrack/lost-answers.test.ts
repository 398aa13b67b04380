import { describe, expect, onTestFinished, test, vi } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import type { Flow, FlowTuple } from "../../../wire/netlink/conntrack/flow.ts";
import { ERRNO } from "../../errno.ts";
import { type NetlinkAnswer, NetlinkSocket } from "../netlink/netlink-socket.ts";
import { openConntrackTable } from "./conntrack-table.ts";
import { openTcpFlowTable } from "./tcp-flow-table.ts";

const tuples: readonly FlowTuple[] = [1, 2, 3, 4, 5].map((srcPort) => ({
  src: "10.1.0.5",
  srcPort,
  dst: "10.96.0.10",
  dstPort: 53,
}));

/** A kernel that answers as the test says: no real one loses answers to so few requests. */
function answerBy(answer: (count: number) => Partial<NetlinkAnswer>): readonly number[] {
  const counts: number[] = [];
  const spy = vi.spyOn(NetlinkSocket.prototype, "exchange").mockImplementation(async (request) => {
    counts.push(request.count);
    return { failures: [], isInterrupted: false, isOverrun: false, ...answer(request.count) };
  });
  onTestFinished(() => spy.mockRestore());
  return counts;
}

function opened<T extends { close(): void }>(table: T): T {
  onTestFinished(() => table.close());
  return table;
}

describe("where answers are lost it is asked again by halves", requires("linux"), () => {
  test("to remove flows", async () => {
    const counts = answerBy((count) => ({ isOverrun: count > 2 }));
    const flows = tuples.map(
      (original, id): Flow => ({
        protocol: "UDP",
        original,
        reply: original,
        id,
        isDestinationNat: true,
        mark: 0,
      }),
    );
    expect(await opened(openConntrackTable()).remove(flows)).toBe(5);
    expect(counts).toEqual([5, 2, 3, 1, 2]);
  });

  test("to change TCP flows", async () => {
    const counts = answerBy((count) => ({ isOverrun: count > 2 }));
    const changes = tuples.map((tuple) => ({ tuple, set: 0, clear: 0 }));
    expect(await opened(openTcpFlowTable()).change(changes)).toBe(5);
    expect(counts).toEqual([5, 2, 3, 1, 2]);
  });
});

test.each(["ENOENT", "ETIME"] as const)(
  "a TCP flow that ended is no failure: %s",
  requires("linux"),
  async (name) => {
    const words = { text: "", refusedAt: undefined, missingType: undefined };
    answerBy(() => ({ failures: [{ index: 0, sequence: 1, errno: ERRNO[name], ...words }] }));
    expect(await opened(openTcpFlowTable()).ask(tuples.slice(0, 1))).toEqual([undefined]);
  },
);
