import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import { DescriptorLedger } from "../../net/posix/descriptor-ledger.ts";
import { PosixProvider } from "../../net/posix/posix-provider.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { Rehearsal } from "./rehearsal.ts";

function rehearse(stopAfterMs?: number): { exchanges: number; errors: readonly unknown[] } {
  const errors: unknown[] = [];
  const provider = new PosixProvider({ ledgerMemory: DescriptorLedger.allocate(65_536) });
  const net = new NetEventLoop({ provider, maxFds: 16, onError: (error) => errors.push(error) });
  let exchanges = -1;
  const rehearsal = new Rehearsal(net, {
    aead: loadAead(),
    count: stopAfterMs === undefined ? 100 : Number.POSITIVE_INFINITY,
    onDone: (count) => {
      exchanges = count;
      net.loop.close();
    },
  });
  if (stopAfterMs !== undefined) net.loop.delay(stopAfterMs, () => rehearsal.close());
  net.loop.run();
  return { exchanges, errors };
}

describe("a rehearsal", requires("linux"), () => {
  test("passes packets of all kinds there and back, and leaves no descriptor", () => {
    rehearse();
    const before = readdirSync("/proc/self/fd").length;
    expect(rehearse()).toEqual({ exchanges: 100, errors: [] });
    expect(readdirSync("/proc/self/fd")).toHaveLength(before);
  });

  test("ends when it is told to", () => {
    const { exchanges, errors } = rehearse(5);
    expect(exchanges).toBeGreaterThanOrEqual(0);
    expect(errors).toEqual([]);
  });
});
