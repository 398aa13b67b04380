import { formatHostPort } from "../../core/model/address.ts";
import { PeakEwma } from "./peak-ewma.ts";

/**
 * One address that connections go to. Everything that changes is written by the `ServerGroup` that
 * it belongs to. A server that has left its group lives on until its last connection has ended.
 */
export class Server {
  /** The member of the group that it is an address of. */
  readonly memberId: string;
  /** An IP address, or the path of a unix socket (then `port` is 0). */
  readonly address: string;
  readonly port: number;
  /** `10.0.0.1:80`. */
  readonly key: string;
  readonly latency: PeakEwma = new PeakEwma();
  healthy: boolean;
  /** Whether a check has said yet how it is. */
  isJudged: boolean;
  /** Its share of new connections right now; 0 while it takes none. */
  weight = 0;
  /** Connections that are open. */
  connections = 0;
  /** Connections that others have open to it, as far as it is known here. */
  elsewhere = 0;

  constructor(memberId: string, address: string, port: number, healthy: boolean) {
    this.memberId = memberId;
    this.address = address;
    this.port = port;
    this.key = serverKey(address, port);
    this.healthy = healthy;
    this.isJudged = healthy;
  }

  /** What it has to carry. */
  get load(): number {
    return this.connections + this.elsewhere;
  }
}

/** What servers with the same address have in common. */
export function serverKey(address: string, port: number): string {
  return address.startsWith("/") ? address : formatHostPort(address, port);
}
