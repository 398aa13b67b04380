import type { Protocol } from "../../src/core/model/common.ts";
import { ERRNO, errnoName } from "../../src/platform/errno.ts";
import { connectTo } from "../../src/platform/linux/socket-names.ts";
import { setLingerReset, takeSocketError } from "../../src/platform/linux/socket-options.ts";
import { checked } from "../../src/platform/linux/system-error.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";
import type { Reactor } from "./reactor.ts";
import { parseSctp, renderSctp } from "./sctp.ts";
import { endOf, openCaller, readText, receiveFrom, sendTo, wasToldOff } from "./sockets.ts";

/** Who calls whom. */
export interface Call {
  readonly party: PartyName;
  readonly protocol: Protocol;
  readonly from: string;
  readonly fromPort: number;
  readonly to: string;
  readonly port: number;
}

export type CallOutcome =
  /** What the server said. */
  | { readonly kind: "answered"; readonly text: string }
  /** The caller was told that nobody is there. */
  | { readonly kind: "refused"; readonly error: string }
  /** A connection stood, and ended without an answer. */
  | { readonly kind: "closed" }
  | { readonly kind: "silence" };

/** A call under way. */
export interface PendingCall {
  readonly outcome: Promise<CallOutcome>;
  /** Ends it with `silence` where nothing came. */
  giveUp(): void;
}

interface CallHost {
  readonly network: NamespaceNetwork;
  readonly reactor: Reactor;
}

/** Calls; at once, since the first packet is sent before it returns. */
export function startCall({ network, reactor }: CallHost, call: Call): PendingCall {
  const fd = network.inside(call.party, () =>
    checked("bind", openCaller(call.protocol, call.from, call.fromPort), `port ${call.fromPort}`),
  );
  let end: (outcome: CallOutcome) => void = () => undefined;
  let isOver = false;
  const outcome = new Promise<CallOutcome>((resolve) => {
    end = (result) => {
      if (isOver) return;
      isOver = true;
      reactor.drop(fd);
      resolve(result);
    };
  });
  STARTS[call.protocol](fd, call, reactor, end);
  return { outcome, giveUp: () => end({ kind: "silence" }) };
}

type Start = (
  fd: number,
  call: Call,
  reactor: Reactor,
  end: (outcome: CallOutcome) => void,
) => void;

const STARTS: Readonly<Record<Protocol, Start>> = {
  TCP: startTcp,
  UDP: startUdp,
  SCTP: startSctp,
};

function startTcp(
  fd: number,
  call: Call,
  reactor: Reactor,
  end: (outcome: CallOutcome) => void,
): void {
  // Neither server nor kernel shall remember thousands of calls for minutes: there is no room for more.
  setLingerReset(fd);
  const connecting = connectTo(fd, endOf("TCP", call.to, call.port));
  if (connecting < 0 && connecting !== -ERRNO.EINPROGRESS) {
    end(refusal(connecting));
    return;
  }
  let text = "";
  const onReadable = () => {
    const chunk = readText(fd);
    if (chunk === -ERRNO.EAGAIN) return;
    if (typeof chunk === "string" && chunk !== "") text += chunk;
    else end(text === "" ? { kind: "closed" } : { kind: "answered", text });
  };
  reactor.onChange(fd, () => {
    const error = takeSocketError(fd);
    if (error < 0) return end(refusal(error));
    if (wasToldOff(fd)) return end(refusal(-ERRNO.ECONNREFUSED));
    reactor.onReadable(fd, onReadable);
  });
}

function startUdp(
  fd: number,
  call: Call,
  reactor: Reactor,
  end: (outcome: CallOutcome) => void,
): void {
  checked("connect", connectTo(fd, endOf("UDP", call.to, call.port)), call.to);
  reactor.onReadable(fd, () => {
    const received = receiveFrom(fd);
    if (received === -ERRNO.EAGAIN) return;
    if (typeof received === "number") end(refusal(received));
    else end({ kind: "answered", text: received.bytes.toString() });
  });
  sendOrEnd(fd, Buffer.from("hello"), end);
}

function startSctp(
  fd: number,
  call: Call,
  reactor: Reactor,
  end: (outcome: CallOutcome) => void,
): void {
  checked("connect", connectTo(fd, endOf("SCTP", call.to, 0)), call.to);
  reactor.onReadable(fd, () => {
    const received = receiveFrom(fd);
    if (received === -ERRNO.EAGAIN) return;
    if (typeof received === "number") return end(refusal(received));
    // A raw socket gets what is for all of its address.
    const packet = parseSctp(received.bytes, received.from.family);
    if (packet?.kind !== "init-ack" || packet.destinationPort !== call.fromPort) return;
    end({ kind: "answered", text: packet.cookie });
  });
  const initiateTag = call.fromPort;
  const ports = { sourcePort: call.fromPort, destinationPort: call.port };
  sendOrEnd(fd, renderSctp({ ...ports, kind: "init", initiateTag, cookie: "" }, 0), end);
}

/** Where the sender's own rules drop a packet or reject it, sending says EPERM; only a reject says more. */
function sendOrEnd(fd: number, bytes: Buffer, end: (outcome: CallOutcome) => void): void {
  const result = sendTo(fd, bytes);
  if (result < 0 && result !== -ERRNO.EPERM) end(refusal(result));
}

function refusal(result: number): CallOutcome {
  return { kind: "refused", error: errnoName(result) };
}
