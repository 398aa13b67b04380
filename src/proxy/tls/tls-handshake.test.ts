import { generate } from "selfsigned";
import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import type { Log } from "../../core/log.ts";
import type { Provider, StreamFd } from "../../net/fd.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import { DescriptorLedger } from "../../net/posix/descriptor-ledger.ts";
import { PosixProvider } from "../../net/posix/posix-provider.ts";
import { AlpnSelectors } from "../../platform/linux/openssl/alpn-selectors.ts";
import { loadOpenSsl } from "../../platform/linux/openssl/load-openssl.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { HANDSHAKE_PATIENCE_MS } from "../openings/opening.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import { Terminator } from "./terminator.ts";
import { TicketRatchet } from "./ticket-ratchet.ts";
import { TlsHandshake } from "./tls-handshake.ts";

const MAX_DESCRIPTORS = 65_536;
const HEADER = "PROXY TCP4 192.0.2.7 198.51.100.1 5555 443\r\n";
const LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

async function createTerminator(): Promise<Terminator> {
  const calls = loadOpenSsl();
  const made = await generate([{ name: "commonName", value: "a.example" }], { keyType: "ec" });
  const tickets = TicketRatchet.create(0);
  return new Terminator(
    { calls, selectors: new AlpnSelectors(calls), tickets, nowMs: () => 0 },
    {
      key: "web",
      mode: "tcp",
      tls: { certificates: ["a"], clientCaPem: "" },
      certificates: [{ key: "a", certPem: made.cert, keyPem: made.private }],
    },
  );
}

/** System calls, and a clock that the test turns. */
function createProvider(clock: { nowMs: number }): Provider {
  const posix = new PosixProvider({ ledgerMemory: DescriptorLedger.allocate(MAX_DESCRIPTORS) });
  return {
    name: posix.name,
    selector: posix.selector,
    pipes: posix.pipes,
    adopt: posix.adopt,
    clock: { nowMs: () => clock.nowMs, callAt: posix.clock.callAt },
    allocate: (byteCount) => posix.allocate(byteCount),
    connect: (to) => posix.connect(to),
    listen: (on, options) => posix.listen(on, options),
    bindDatagram: (on) => posix.bindDatagram(on),
    close: () => posix.close(),
  };
}

interface Call {
  readonly sends: string;
  readonly expectsHeader?: boolean;
  /** Turns the clock when the client has sent. */
  readonly laterMs?: number;
  readonly isAllowed?: boolean;
}

/** What becomes of a client's handshake, on a loop of its own. */
async function outcomeOf({ sends, expectsHeader = false, laterMs = 0, isAllowed = true }: Call) {
  const terminator = await createTerminator();
  const clock = { nowMs: 0 };
  const net = new NetEventLoop({
    provider: createProvider(clock),
    onError: (error) => {
      throw error;
    },
  });
  const sessions = new Set<OpenSession>();
  const host: SessionHost = {
    net,
    log: LOG,
    sessions,
    isDraining: false,
    resolve: () => undefined,
  };
  const server = net.provider.listen(ipAddress("127.0.0.1", 0), { backlog: 1 });
  const client = net.provider.connect(server.localAddress());
  const seen: { fd: StreamFd | undefined; reason: string; asked: string } = {
    fd: undefined,
    reason: "",
    asked: "",
  };
  const sendNow = (): void => {
    const bytes = Buffer.from(sends, "latin1");
    const region = net.provider.allocate(bytes.length);
    region.bytes.set(bytes);
    client.write(region, 0, bytes.length);
    net.loop.nextTick(() => {
      clock.nowMs += laterMs;
    });
  };
  net.accept(server, {
    onConnection: (fd) => {
      seen.fd = fd;
      new TlsHandshake(host, {
        listener: "web",
        fd,
        terminator,
        expectsHeader,
        allows: (ip) => {
          seen.asked = ip;
          return isAllowed;
        },
        done: () => net.loop.close(),
        failed: (reason) => {
          seen.reason = reason;
          net.loop.close();
        },
      }).start();
      sendNow();
    },
  });
  net.loop.run();
  client.close();
  terminator.close();
  return { ...seen, isClosed: seen.fd?.isClosed, sessions: sessions.size };
}

describe("a handshake", requires("linux"), () => {
  test.each([
    ["nothing", "", false],
    ["a part of a hello", "\x16\x03\x01\x02\x00\x01\x00", false],
    ["a part of a PROXY header", HEADER.slice(0, 20), true],
    ["a PROXY header only", HEADER, true],
  ])("that takes too long is given up: %s", async (_name, sends, expectsHeader) => {
    const outcome = await outcomeOf({ sends, expectsHeader, laterMs: HANDSHAKE_PATIENCE_MS });
    expect(outcome).toMatchObject({
      reason: "the handshake took too long",
      isClosed: true,
      sessions: 0,
    });
  });

  test.each([
    ["GET / HTTP/1.1\r\n\r\n", false, "the client does not speak TLS"],
    ["\x16\x03\x01\xff\xff\x01", false, /^TLS ClientHello: a record of 65535 bytes/],
    [
      "\x16\x03\x01\x02\x00\x01\x01\x00\x00",
      false,
      "TLS ClientHello: 65536 bytes; expected 16384 at most",
    ],
    ["\x16\x03\x01", true, "no PROXY header came from a network that must send one"],
    ["PROXY TCP4 x\r\n", true, /^PROXY header: /],
    [`${HEADER}GET / HTTP/1.1\r\n\r\n`, true, "the client does not speak TLS"],
  ])("that is none is refused at once: %j", async (sends, expectsHeader, reason) => {
    const outcome = await outcomeOf({ sends, expectsHeader });
    expect(outcome).toMatchObject({
      reason: typeof reason === "string" ? reason : expect.stringMatching(reason),
      isClosed: true,
      sessions: 0,
    });
  });

  test("of somebody who may not come in is not begun; a PROXY header says who that is", async () => {
    const refused = "the client is not allowed in";
    expect(await outcomeOf({ sends: "", isAllowed: false })).toMatchObject({
      reason: refused,
      asked: "127.0.0.1",
    });
    const behind = { sends: HEADER, expectsHeader: true, isAllowed: false };
    expect(await outcomeOf(behind)).toMatchObject({ reason: refused, asked: "192.0.2.7" });
  });
});
