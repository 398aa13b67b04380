import { expect, test } from "vitest";
import { connectionOf } from "./connections.fixture.ts";
import { FakeFastPlane } from "./fake-fast-plane.fixture.ts";

const ETH0 = { link: 2, name: "eth0", mtu: 1500 };
const { asks, answers } = connectionOf("v6");

test("what is proposed is taken once, and what is admitted is there once", () => {
  const plane = new FakeFastPlane();
  plane.seen = [asks];
  expect(plane.takeSeen()).toEqual([asks]);
  expect(plane.takeSeen()).toEqual([]);
  plane.admit(asks);
  plane.admit(asks);
  plane.give(answers, { end: 7 });
  plane.admit(answers);
  expect(plane.admitted).toEqual([asks, asks, answers]);
  expect(plane.taken()).toEqual([
    { ...asks, untilNs: 0n, end: 0, acknowledged: 0 },
    { ...answers, untilNs: 0n, end: 7, acknowledged: 0 },
  ]);
});

test("what is absent can be removed, too", () => {
  const plane = new FakeFastPlane();
  plane.admit(asks);
  plane.remove([asks, answers]);
  plane.remove([asks]);
  expect(plane.taken()).toEqual([]);
});

test("links are attached until that is ended, and a failure is thrown once", () => {
  const plane = new FakeFastPlane();
  plane.failure = new Error("no room");
  expect(() => plane.attach(ETH0)).toThrow("no room");
  const detach = plane.attach(ETH0);
  expect([...plane.attachedLinks]).toEqual([ETH0]);
  detach();
  plane.close();
  expect([...plane.attachedLinks]).toEqual([]);
  expect(plane.calls).toEqual(["attach eth0", "detach eth0", "close"]);
});
