import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { FAMILIES } from "../../../core/model/address.ts";
import { TCP_ACK, TCP_FIN, TCP_RST, TCP_SYN } from "../../../wire/ip/ip-numbers.ts";
import { VERDICT } from "../bpf/bpf-numbers.ts";
import { NetworkNamespace } from "../network-namespace.ts";
import { connectionOf, fastFlowOf } from "./connections.fixture.ts";
import { FastPrograms, LINK, requiresSums } from "./fast-programs.fixture.ts";
import { frameOf } from "./frames.fixture.ts";

const LONG_AGO = 2 ** 30;
const SEQUENCE = 5000;
const PAYLOAD_BYTES = 100;
const END = SEQUENCE + PAYLOAD_BYTES;

describe.each(FAMILIES)(
  "a packet that begins or ends a connection, %s",
  requires("linux", "root", "ip"),
  (family) => {
    let programs: FastPrograms;
    const { asked, sent } = connectionOf(family);
    const flow = fastFlowOf({ ...asked, link: LINK }, sent);
    const otherAsked = connectionOf(family, 1).asked;
    const other = fastFlowOf({ ...otherAsked, link: LINK }, sent);

    /** Both take the path, and the first has said something. */
    beforeEach(() => {
      programs = new FastPrograms();
      for (const one of [flow, other]) programs.lease(one);
      const said = frameOf(asked, { sequence: SEQUENCE, payloadBytes: PAYLOAD_BYTES });
      expect(programs.comes(said).verdict).toBe(VERDICT.redirect);
    });
    afterEach(() => programs.close());
    const keysTaken = () => programs.taken(family).map(({ key }) => Buffer.from(key));
    const reset = (sequence: number, flags = TCP_RST | TCP_ACK) =>
      frameOf(asked, { sequence, flags, payloadBytes: 0 });

    test.each([
      ["FIN", TCP_FIN | TCP_ACK],
      ["SYN", TCP_SYN],
      ["SYN and ACK", TCP_SYN | TCP_ACK],
    ])("goes by the rules as it is, and its connection with it: %s", (_, flags) => {
      const frame = frameOf(asked, { flags, sequence: END });
      const { verdict, frame: output } = programs.comes(frame);
      expect([verdict, output]).toEqual([VERDICT.next, frame.toString("hex")]);
      expect(keysTaken()).toEqual([other.key]);
      expect(programs.comes(frameOf(asked)).verdict).toBe(VERDICT.next);
    });

    test.each([END - 1, END + 1, SEQUENCE, 0])(
      "goes by the rules as it is where it resets at another place: %s",
      (sequence) => {
        const frame = reset(sequence);
        const { verdict, frame: output } = inside(true).run(() => programs.comes(frame));
        expect([verdict, output]).toEqual([VERDICT.next, frame.toString("hex")]);
        expect(keysTaken()).toEqual([other.key]);
      },
    );

    test("goes by the rules as it is where it resets what is not known", () => {
      const frame = frameOf({ ...asked, srcPort: 1 }, { flags: TCP_RST, sequence: END });
      const { verdict, frame: output } = inside(true).run(() => programs.comes(frame));
      expect([verdict, output]).toEqual([VERDICT.next, frame.toString("hex")]);
      expect(keysTaken()).toHaveLength(2);
    });

    test("goes by the rules as it is where it resets, and can not be put behind another", () => {
      const frame = reset(END);
      const { verdict, frame: output } = inside(false).run(() => programs.comes(frame));
      expect([verdict, output]).toEqual([VERDICT.next, frame.toString("hex")]);
      expect(keysTaken()).toEqual([other.key]);
    });

    test.each([
      ["RST", TCP_RST],
      ["RST and ACK", TCP_RST | TCP_ACK],
    ])("is put behind an old end where it resets, which goes no further: %s", (_, flags) => {
      const namespace = inside(true);
      const before = received(namespace);
      const { verdict, frame } = namespace.run(() => programs.comes(reset(END, flags)));
      const spec = { sequence: (END - LONG_AGO) >>> 0, flags: TCP_FIN | TCP_ACK, payloadBytes: 0 };
      const decoy = frameOf(asked, spec);
      expect([verdict, frame]).toEqual([VERDICT.next, decoy.toString("hex")]);
      expect(keysTaken()).toEqual([other.key]);
      // The reset itself.
      expect(received(namespace)).toBe(before + 1);
      expect(programs.spreadNote()).toBe(true);
      const leaving = frameOf(sent, { ...spec, hops: 63 });
      expect(programs.leaves(leaving).verdict).toBe(VERDICT.drop);
    });

    test.each([
      ["a probe", { sequence: END - 1, payloadBytes: 0 }, VERDICT.redirect],
      [
        "what was said before",
        { sequence: SEQUENCE, payloadBytes: PAYLOAD_BYTES - 1 },
        VERDICT.next,
      ],
    ])("is put behind an old end where it resets also after %s", (_, spec, verdict) => {
      expect(programs.comes(frameOf(asked, spec)).verdict).toBe(verdict);
      const { frame } = inside(true).run(() => programs.comes(reset(END)));
      const decoy = {
        sequence: (END - LONG_AGO) >>> 0,
        flags: TCP_FIN | TCP_ACK,
        payloadBytes: 0,
      };
      expect(frame).toBe(frameOf(asked, decoy).toString("hex"));
      expect(keysTaken()).toEqual([other.key]);
    });

    test("has the sum of a card, which is right then, too", requiresSums(), () => {
      const { frame } = inside(true).run(() => programs.comes(reset(END), { hasSum: true }));
      expect(frame).not.toBe(reset(END).toString("hex"));
    });

    /** @param isUp whether packets can come by its loopback link */
    function inside(isUp: boolean): NetworkNamespace {
      const namespace = NetworkNamespace.create(() => {
        if (isUp) execFileSync("ip", ["link", "set", "lo", "up"]);
      });
      onTestFinished(() => namespace.close());
      return namespace;
    }

    /** How many packets of the family came in a namespace. */
    function received(namespace: NetworkNamespace): number {
      const file = family === "v4" ? "snmp" : "snmp6";
      const text = namespace.run(() =>
        execFileSync("cat", [`/proc/net/${file}`], { encoding: "utf8" }),
      );
      const found =
        family === "v4" ? /^Ip: \d+ \d+ (\d+)/m.exec(text) : /^Ip6InReceives\s+(\d+)/m.exec(text);
      return Number(found?.[1]);
    }
  },
);
