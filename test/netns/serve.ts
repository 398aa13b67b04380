import type { Protocol } from "../../src/core/model/common.ts";
import { SOCK_CLOEXEC } from "../../src/platform/linux/abi.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { accept4, listen } from "../../src/platform/linux/socket-calls.ts";
import { remoteAddressOf } from "../../src/platform/linux/socket-names.ts";
import { checked } from "../../src/platform/linux/system-error.ts";
import type { SocketAddress } from "../../src/platform/socket-address.ts";
import { type Greeting, renderGreeting } from "./greeting.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";
import type { Reactor } from "./reactor.ts";
import { parseSctp, renderSctp } from "./sctp.ts";
import { endOf, openBound, receiveFrom, sendTo, writeText } from "./sockets.ts";

/** Where a server stands. */
export interface Place {
  readonly party: PartyName;
  readonly protocol: Protocol;
  readonly ip: string;
  readonly port: number;
  readonly isCatcher?: boolean;
}

export interface Server {
  close(): void;
}

/** What servers need of the fixture. */
export interface ServerHost {
  readonly network: NamespaceNetwork;
  readonly reactor: Reactor;
  /** Somebody got through to a server, whether or not the answer gets back. */
  onArrival(): void;
}

const BACKLOG = 1024;

/** Answers everyone who calls with a `Greeting`. @returns undefined where somebody else is there */
export function serve(host: ServerHost, place: Place): Server | undefined {
  const { protocol, ip, port } = place;
  const fd = host.network.inside(place.party, () => {
    const opened = openBound(protocol, ip, port);
    if (opened >= 0 && protocol === "TCP") checked("listen", listen(opened, BACKLOG));
    return opened;
  });
  if (fd < 0) return undefined;
  const answer = ANSWERS[protocol];
  host.reactor.onReadable(fd, () => {
    while (answer(fd, place)) host.onArrival();
  });
  return { close: () => host.reactor.drop(fd) };
}

/** Takes one call; false where there is none left. */
type Answer = (fd: number, place: Place) => boolean;

const ANSWERS: Readonly<Record<Protocol, Answer>> = {
  TCP: answerTcp,
  UDP: answerUdp,
  SCTP: answerSctp,
};

function answerTcp(fd: number, place: Place): boolean {
  const connection = accept4(fd, 0, 0, SOCK_CLOEXEC);
  if (connection < 0) return false;
  writeText(connection, renderGreeting(greetingFor(place, remoteAddressOf(connection))));
  close(connection);
  return true;
}

function answerUdp(fd: number, place: Place): boolean {
  const received = receiveFrom(fd);
  if (typeof received === "number") return false;
  sendTo(fd, Buffer.from(renderGreeting(greetingFor(place, received.from))), received.from);
  return true;
}

function answerSctp(fd: number, place: Place): boolean {
  for (;;) {
    const received = receiveFrom(fd);
    if (typeof received === "number") return false;
    const packet = parseSctp(received.bytes, received.from.family);
    if (packet?.kind !== "init" || packet.destinationPort !== place.port) continue;
    const source = received.from.family === "unix" ? "" : received.from.ip;
    const caller = endOf("UDP", source, packet.sourcePort);
    const reply = renderSctp(
      {
        sourcePort: place.port,
        destinationPort: packet.sourcePort,
        kind: "init-ack",
        initiateTag: packet.initiateTag,
        cookie: renderGreeting(greetingFor(place, caller)),
      },
      packet.initiateTag,
    );
    sendTo(fd, reply, endOf("SCTP", source, 0));
    return true;
  }
}

function greetingFor({ ip, port, isCatcher = false }: Place, caller: SocketAddress): Greeting {
  if (caller.family === "unix") throw new Error("a caller without an address");
  return { at: ip, port, source: caller.ip, sourcePort: caller.port, isCatcher };
}
