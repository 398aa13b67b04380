import type { Transport } from "../../net/listeners/socket-lending.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";

/** A socket that a listener has. */
export interface ListenerSocket {
  /**
   * By what it is known: its address, so that a listener that takes the place of another keeps the
   * socket and all that wait in it. Where any port will do, each has its own.
   */
  readonly id: string;
  readonly transport: Transport;
}

const STREAM: readonly Transport[] = ["stream"];
const DATAGRAM: readonly Transport[] = ["datagram"];
const BOTH: readonly Transport[] = ["datagram", "stream"];

/** Before the address of a socket for datagrams whose clients come by KCP. */
const TUNNELS = "KCP ";

export function hasTunnels(socketId: string): boolean {
  return socketId.startsWith(TUNNELS);
}

export function socketsOf({
  key,
  address,
  mode,
  transport: carrier,
}: ListenerConfig): readonly ListenerSocket[] {
  const where = formatSocketAddress(address);
  const text = address.family !== "unix" && address.port === 0 ? `${where} ${key}` : where;
  if (carrier === "kcp") return [{ id: `${TUNNELS}${text}`, transport: "datagram" }];
  return transportsOf(mode).map((transport) => ({
    id: `${transport === "stream" ? "TCP" : "UDP"} ${text}`,
    transport,
  }));
}

function transportsOf(mode: ListenerConfig["mode"]): readonly Transport[] {
  switch (mode) {
    case "udp":
      return DATAGRAM;
    case "dns":
      return BOTH;
    default:
      return STREAM;
  }
}
