import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { Outgoing } from "./outgoing.ts";
import { Peer } from "./peer.ts";
import { TunnelControl } from "./tunnel-control.ts";

const PONG = 2;

describe("round-trip times", requires("linux"), () => {
  test("are smoothed as they grow and true at once as they shrink, and a stamp that nobody can have sent says nothing", () => {
    const control = new TunnelControl(new Outgoing(-1, () => undefined));
    const peer = new Peer({ node: "b", subnets: [], modes: ["fast"] });
    const answer = (stamp: number, nowMs: number): number | undefined => {
      const view = new DataView(new ArrayBuffer(16));
      view.setUint8(0, PONG);
      view.setFloat64(8, stamp);
      control.take(peer, view, 0, 16, nowMs);
      return peer.roundTripMs;
    };
    const strange = [Number.NEGATIVE_INFINITY, Number.NaN, Number.POSITIVE_INFINITY, 101, -1e9];
    expect(strange.map((stamp) => answer(stamp, 100))).toEqual(strange.map(() => undefined));
    expect([answer(98, 100), answer(94, 100)]).toEqual([2, 3]);
    expect(strange.map((stamp) => answer(stamp, 100))).toEqual(strange.map(() => 3));
    // One that was measured while the machine had other things to do.
    expect([answer(0, 141), answer(99, 100)]).toEqual([37.5, 1]);
  });
});
