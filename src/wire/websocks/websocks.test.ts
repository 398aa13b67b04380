import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { eachBeginning, eachSplit } from "../../../test/support/each-split.ts";
import { acceptKey } from "./accept-key.ts";
import type { ClientStep, ClientTalk } from "./client-step.ts";
import { type FrameOutcome, FrameReader } from "./frame-reader.ts";
import { renderUpgradeRequest, renderUpgradeResponse } from "./render-upgrade.ts";
import { TargetClient } from "./target-client.ts";
import { UpgradeClient } from "./upgrade-client.ts";
import { type FirstRequest, FirstRequestReader } from "./upgrade-request.ts";
import { goodMinutes, websocksSecret, websocksToken } from "./websocks-token.ts";

/** The sample of RFC 6455, which clients may use. */
const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const http = (...lines: readonly string[]) =>
  Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");

const UPGRADE = [
  "GET / HTTP/1.1",
  "Host: tunnel.example",
  "Upgrade: websocket",
  "Connection: Upgrade",
  `Sec-WebSocket-Key: ${KEY}`,
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Protocol: socks5",
  "Authorization: Basic YWxpY2U6dG9rZW4=",
];

function readFirst(parts: readonly Buffer[]): FirstRequest {
  const reader = new FirstRequestReader();
  let outcome: FirstRequest = { kind: "more" };
  for (const [index, part] of parts.entries()) {
    outcome = reader.feed(part);
    if (outcome.kind === "more") continue;
    if (outcome.kind !== "upgrade") return outcome;
    return { ...outcome, rest: Buffer.concat([outcome.rest, ...parts.slice(index + 1)]) };
  }
  return outcome;
}

describe("tokens", () => {
  const base64 = (text: string) => createHash("sha256").update(text).digest("base64");

  test("are what the protocol says, for the minute", () => {
    const minute = "1700000040000";
    expect(websocksToken(websocksSecret("pw"), 1_700_000_040_000)).toBe(
      base64(`${base64("pw")}${minute}`),
    );
  });

  test("are good in the minute and in the two beside it", () => {
    expect(goodMinutes(1_700_000_099_999)).toEqual([
      1_699_999_980_000, 1_700_000_040_000, 1_700_000_100_000,
    ]);
  });
});

describe("the first request of a connection", () => {
  test("however it is cut, an upgrade is known with what follows it", () => {
    const bytes = Buffer.concat([http(...UPGRADE), hex("8a00")]);
    for (const parts of eachSplit(bytes)) {
      expect(readFirst(parts)).toEqual({
        kind: "upgrade",
        key: KEY,
        credentials: { user: "alice", token: "token" },
        rest: hex("8a00"),
      });
    }
  });

  test("what our client says is understood", () => {
    const credentials = { user: "bob", token: "a:b" };
    const request = { path: "/t", host: "h:1", key: KEY, credentials };
    expect(readFirst([renderUpgradeRequest(request)])).toMatchObject({ key: KEY, credentials });
  });

  test("a beginning of it is not enough", () => {
    for (const beginning of eachBeginning(http(...UPGRADE))) {
      expect(readFirst([beginning]).kind).toBe("more");
    }
  });

  test.each([
    ["another protocol", "Sec-WebSocket-Protocol: chat"],
    ["no protocol", "X: y"],
    ["another version", "Sec-WebSocket-Version: 8"],
    ["a short key", "Sec-WebSocket-Key: abcd"],
  ])("%s is a 400", (_, line) => {
    const name = line === "X: y" ? "Sec-WebSocket-Protocol" : (line.split(":")[0] ?? "");
    const lines = UPGRADE.map((one) => (one.startsWith(`${name}:`) ? line : one));
    expect(readFirst([http(...lines)])).toMatchObject({ kind: "bad", status: 400 });
  });

  test("without an upgrade it is for a page", () => {
    const outcome = readFirst([http("GET /a/b?c HTTP/1.1", "Host: x")]);
    expect(outcome).toEqual({ kind: "page", method: "GET", path: "/a/b" });
  });

  test("a head without end is refused with 431", () => {
    const long = `X: ${"y".repeat(10_000)}`;
    expect(readFirst([Buffer.from(`GET / HTTP/1.1\r\n${long}`)])).toMatchObject({ status: 431 });
  });
});

describe("frames of a client", () => {
  const FRAME = "827f 7fffffffffffffff";

  function read(parts: readonly Buffer[]): { outcome: FrameOutcome; pongs: number; rest: string } {
    const reader = new FrameReader();
    let outcome: FrameOutcome = { kind: "more", pongs: 0 };
    let pongs = 0;
    let rest = "";
    for (const part of parts) {
      if (outcome.kind === "frame") rest += part.toString("hex");
      if (outcome.kind !== "more") continue;
      outcome = reader.feed(part);
      if (outcome.kind === "more") pongs += outcome.pongs;
      if (outcome.kind === "frame") rest += outcome.rest.toString("hex");
    }
    return { outcome, pongs, rest };
  }

  test("however they are cut, the frame begins after any number of PONGs", () => {
    for (const parts of eachSplit(hex(`8a00 8a00 ${FRAME} 050100`))) {
      const { outcome, rest } = read(parts);
      expect(outcome.kind).toBe("frame");
      expect(rest).toBe("050100");
    }
  });

  test("PONGs alone are signs of life", () => {
    expect(read([hex("8a00"), hex("8a008a")]).pongs).toBe(2);
  });

  test.each(["827e", "8180", "8a01", "050100", "82ff"])("%s is none of them", (bytes) => {
    expect(read([hex(bytes)]).outcome.kind).toBe("bad");
  });
});

describe("the client's side", () => {
  interface Talked {
    readonly step: ClientStep;
    readonly said: string;
    readonly rest: string;
  }

  /** What a server says, cut as it may be; each answer comes when the word before it was said. */
  function talk(client: ClientTalk, answers: readonly (readonly Buffer[])[]): Talked {
    const said = [client.first.toString("hex")];
    const parts = answers.flat();
    for (const [index, part] of parts.entries()) {
      const step = client.feed(part);
      if (step.kind !== "more") {
        const rest = step.kind === "done" ? [step.rest, ...parts.slice(index + 1)] : [];
        return { step, said: said.join(" "), rest: Buffer.concat(rest).toString("hex") };
      }
      if (step.say !== undefined) said.push(step.say.toString("hex"));
    }
    return { step: { kind: "more" }, said: said.join(" "), rest: "" };
  }

  const upgrade = () =>
    new UpgradeClient({
      path: "/",
      host: "h:1",
      key: KEY,
      credentials: { user: "alice", token: "t" },
    });

  test("the RFC's sample is accepted, however the answer is cut", () => {
    expect(acceptKey(KEY)).toBe(ACCEPT);
    for (const parts of eachSplit(renderUpgradeResponse(KEY))) {
      expect(talk(upgrade(), [parts]).step.kind).toBe("done");
    }
  });

  test.each([
    ["a wrong password", http("HTTP/1.1 401 Unauthorized", "Content-Length: 0"), /401/],
    ["a page", http("HTTP/1.1 200 OK", "Content-Length: 0"), /answers 200/],
    [
      "somebody who does not know the key",
      http("HTTP/1.1 101 S", "Upgrade: websocket", "Sec-WebSocket-Accept: x"),
      /Accept/,
    ],
    [
      "another protocol",
      http("HTTP/1.1 101 S", "Upgrade: websocket", `Sec-WebSocket-Accept: ${ACCEPT}`),
      /Protocol/,
    ],
    ["no HTTP", Buffer.from("SSH-2.0-x\r\n\r\n"), /./],
  ])("%s gives no tunnel", (_, answer, reason) => {
    const { step } = talk(upgrade(), [[answer]]);
    expect(step).toMatchObject({ kind: "failed", reason: expect.stringMatching(reason) });
  });

  const FRAME = hex("827f7fffffffffffffff");
  const REPLY = hex("05 00 00 01 7f000001 1234");

  test("the frame, then SOCKS5 word by word; what the target says first is kept", () => {
    for (const frame of eachSplit(FRAME)) {
      for (const reply of eachSplit(Buffer.concat([REPLY, Buffer.from("SSH")]))) {
        const client = new TargetClient({ host: "a.example", isName: true, port: 80 });
        const { step, said, rest } = talk(client, [frame, [hex("0500")], reply]);
        expect(step.kind).toBe("done");
        const request = `05010003 09${Buffer.from("a.example").toString("hex")} 0050`;
        expect(said).toBe(`827f7fffffffffffffff 050100 ${request.replaceAll(" ", "")}`);
        expect(Buffer.from(rest, "hex").toString()).toBe("SSH");
      }
    }
  });

  test.each([
    ["::1", "05010004 00000000000000000000000000000001 01bb"],
    ["192.0.2.1", "05010001 c0000201 01bb"],
  ])("%s is asked for as an address", (host, request) => {
    const client = new TargetClient({ host, isName: false, port: 443 });
    const { said } = talk(client, [[FRAME], [hex("0500")]]);
    expect(said.split(" ")[2]).toBe(request.replaceAll(" ", ""));
  });

  test.each([
    ["a target that refuses", "05 05 00", { kind: "refused", word: "connection-refused" }],
    ["one that is not allowed", "05 02 00 01", { kind: "refused", word: "not-allowed" }],
    ["a code that is not known", "05 63 00", { kind: "refused", word: "general-failure" }],
    ["another version", "04 00 00", { kind: "failed" }],
  ])("%s is told", (_, reply, outcome) => {
    const client = new TargetClient({ host: "a", isName: true, port: 1 });
    expect(talk(client, [[FRAME], [hex("0500")], [hex(reply)]]).step).toMatchObject(outcome);
  });

  test("a server that wants a password inside, or says no frame, is none", () => {
    const target = { host: "a", isName: true, port: 1 };
    expect(talk(new TargetClient(target), [[FRAME], [hex("05ff")]]).step.kind).toBe("failed");
    expect(talk(new TargetClient(target), [[hex("8100")]]).step.kind).toBe("failed");
    expect(talk(new TargetClient(target), [[FRAME, hex("0500")]]).step.kind).toBe("more");
    const early = Buffer.concat([FRAME, hex("0500")]);
    expect(talk(new TargetClient(target), [[early]]).step.kind).toBe("failed");
  });
});
