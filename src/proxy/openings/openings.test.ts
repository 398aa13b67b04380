import { describe, expect, test } from "vitest";
import { eachBeginning, eachSplit } from "../../../test/support/each-split.ts";
import { HintOpening } from "./hint-opening.ts";
import type { Opening, OpeningStep } from "./opening.ts";
import { ProxyHeaderOpening } from "./proxy-header-opening.ts";
import { Socks5Opening } from "./socks5-opening.ts";

interface Heard {
  readonly step: OpeningStep;
  readonly said: Buffer;
}

/** Feeds pieces until it is over; what comes after belongs to the stream. */
function hear(opening: Opening, chunks: readonly Buffer[]): Heard {
  const said: Buffer[] = [];
  let step: OpeningStep = { kind: "more" };
  const after: Buffer[] = [];
  for (const chunk of chunks) {
    if (step.kind !== "more") {
      after.push(chunk);
      continue;
    }
    step = opening.feed(chunk);
    if (step.say !== undefined) said.push(step.say);
  }
  if (step.kind === "done") step = { ...step, rest: Buffer.concat([step.rest, ...after]) };
  return { step, said: Buffer.concat(said) };
}

describe("hints", () => {
  const request = Buffer.from("GET /shop?q HTTP/1.1\r\nHost: a.example:8080\r\n\r\nbody");

  test("however a request is cut, host and path are found and all bytes pass on", () => {
    for (const chunks of eachSplit(request)) {
      const { step } = hear(new HintOpening(), chunks);
      expect(step).toMatchObject({
        kind: "done",
        introduction: { hint: { host: "a.example:8080" } },
      });
      expect(step.kind === "done" && step.rest.equals(request)).toBe(true);
    }
  });

  test("what is neither TLS nor HTTP has no hint, and is known at once", () => {
    const { step } = hear(new HintOpening(), [Buffer.from("\x00\x01binary")]);
    expect(step).toMatchObject({ kind: "done", introduction: {} });
  });

  test("who says no more goes on without a hint, with what it said", () => {
    for (const beginning of eachBeginning(request.subarray(0, 30))) {
      const opening = new HintOpening();
      if (beginning.length > 0) opening.feed(beginning);
      expect(opening.giveUp()).toEqual({ kind: "done", introduction: {}, rest: beginning });
    }
  });

  test("it does not gather without end", () => {
    const opening = new HintOpening();
    let fed = 0;
    let step: OpeningStep = opening.feed(Buffer.from("GET / HTTP/1.1\r\n"));
    while (step.kind === "more" && fed < 100_000) {
      step = opening.feed(Buffer.from("X-Field: value\r\n"));
      fed += 16;
    }
    expect(step.kind).toBe("done");
    expect(fed).toBeLessThan(20_000);
  });
});

describe("PROXY header", () => {
  const header = Buffer.from("PROXY TCP4 10.1.1.1 10.2.2.2 1234 80\r\nafter");

  test("however it is cut, the client is known and what follows is kept", () => {
    for (const chunks of eachSplit(header)) {
      const { step } = hear(new ProxyHeaderOpening(), chunks);
      expect(step).toMatchObject({
        kind: "done",
        introduction: { proxied: { source: { ip: "10.1.1.1", port: 1234 } } },
      });
      expect(step.kind === "done" && step.rest.toString()).toBe("after");
    }
  });

  test("something else, and silence, are refused", () => {
    expect(hear(new ProxyHeaderOpening(), [Buffer.from("GET /")]).step.kind).toBe("refused");
    expect(new ProxyHeaderOpening().giveUp().kind).toBe("refused");
  });
});

describe("SOCKS5", () => {
  const greeting = Buffer.from([5, 1, 0]);
  const name = Buffer.concat([
    Buffer.from([5, 1, 0, 3, 9]),
    Buffer.from("a.example"),
    Buffer.from([0, 80]),
  ]);

  test("however it is cut, the target is known, and nothing is said about success", () => {
    for (const chunks of eachSplit(Buffer.concat([greeting, name, Buffer.from("more")]))) {
      const { step, said } = hear(new Socks5Opening(), chunks);
      expect(step).toMatchObject({
        kind: "done",
        introduction: { wanted: { host: "a.example", isName: true, port: 80 } },
      });
      expect(step.kind === "done" && step.rest.toString()).toBe("more");
      expect([...said]).toEqual([5, 0]);
    }
  });

  test("UDP ASSOCIATE is passed on as such", () => {
    const associate = Buffer.from([5, 3, 0, 1, 0, 0, 0, 0, 0, 0]);
    const { step } = hear(new Socks5Opening(), [greeting, associate]);
    expect(step).toMatchObject({ kind: "done", introduction: { command: "udp-associate" } });
  });

  test("BIND is refused with SOCKS5's word for it", () => {
    const bind = Buffer.from([5, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
    const { step } = hear(new Socks5Opening(), [greeting, bind]);
    expect(step.kind).toBe("refused");
    expect(step.say?.[1]).toBe(7);
  });
});
