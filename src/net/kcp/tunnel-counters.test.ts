import { expect, test } from "vitest";
import { KcpCounters } from "./kcp-counters.ts";
import { TunnelCounters } from "./tunnel-counters.ts";

test("all that is counted is read by another thread", () => {
  const counters = new KcpCounters();
  const numbered = Object.fromEntries(
    Object.keys(counters).map((name, index) => [name, index + 1]),
  );
  Object.assign(counters, numbered);
  const memory = TunnelCounters.allocate();
  new TunnelCounters(memory).publish(counters);
  expect({ ...new TunnelCounters(memory).read() }).toEqual(numbered);
});
