import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import type { Family } from "../../../core/model/address.ts";
import type { NodePlan } from "../../../edge/environment/edge-network.ts";
import { MDNS_PORT, type MdnsResponder } from "../../../edge/names/mdns-responder.ts";
import type { NameFinder } from "../../../edge/names/name-finder.ts";

export interface MdnsServerParts {
  readonly responder: MdnsResponder;
  /** Looks for services that are not known here. */
  readonly finder: NameFinder;
  /** With the link behind `%` where the address is one of a link. */
  readonly allows: (client: string) => boolean;
  readonly onAnswered: () => void;
  /** A socket failed: it hears nothing any more. */
  readonly onFailed: (error: Error) => void;
  readonly nowMs: () => number;
}

type Link = Pick<NodePlan, "bridge" | "addresses">;

const GROUPS = { v4: "224.0.0.251", v6: "ff02::fb" } as const;
const SOCKET_TYPES = { v4: "udp4", v6: "udp6" } as const;
/** Whoever takes no other can tell that a packet has not been routed (RFC 6762 section 11). */
const HOPS = 255;

/** Answers questions to all on the bridge. */
export class MdnsServer {
  readonly #link: Link;
  readonly #parts: MdnsServerParts;
  readonly #sockets = new Map<Family, Socket>();

  /** @throws what the system refuses; then nothing is left open */
  static async open(
    link: Link,
    families: readonly Family[],
    parts: MdnsServerParts,
  ): Promise<MdnsServer> {
    const server = new MdnsServer(link, parts);
    try {
      for (const family of families) await server.#open(family);
      return server;
    } catch (error) {
      server.close();
      throw error;
    }
  }

  private constructor(link: Link, parts: MdnsServerParts) {
    this.#link = link;
    this.#parts = parts;
  }

  /** Whether the bridge is another one than it was: then nothing of it is heard here. */
  hasLostLink(): boolean {
    return [...this.#sockets].some(([family, socket]) => this.#join(family, socket));
  }

  /** Tells all on the link something that nobody asked for. */
  tell(messages: readonly Buffer[]): void {
    for (const [family, socket] of this.#sockets) {
      // What can not be sent is lost, as UDP may.
      for (const bytes of messages) {
        socket.send(bytes, MDNS_PORT, this.#groupOf(family), () => undefined);
      }
    }
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  async #open(family: Family): Promise<void> {
    // Other programs of the machine may answer there, too.
    const socket = createSocket({
      type: SOCKET_TYPES[family],
      reuseAddr: true,
      ipv6Only: family === "v6",
    });
    this.#sockets.set(family, socket);
    // To the group alone: what is sent to an address of the machine is not for us.
    socket.bind({ address: this.#groupOf(family), port: MDNS_PORT });
    await once(socket, "listening");
    this.#join(family, socket);
    socket.setMulticastInterface(this.#interfaceOf(family));
    socket.setMulticastTTL(HOPS);
    socket.setTTL(HOPS);
    socket.on("message", (bytes, from) => this.#heard(family, socket, bytes, from));
    socket.on("error", this.#parts.onFailed);
  }

  /** False where it is in the group already. */
  #join(family: Family, socket: Socket): boolean {
    try {
      socket.addMembership(GROUPS[family], this.#interfaceOf(family));
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
      throw error;
    }
  }

  #groupOf(family: Family): string {
    return family === "v4" ? GROUPS.v4 : `${GROUPS.v6}%${this.#link.bridge}`;
  }

  #interfaceOf(family: Family): string {
    const { addresses, bridge } = this.#link;
    return family === "v4" ? addresses.v4 : `::%${bridge}`;
  }

  #heard(family: Family, socket: Socket, bytes: Buffer, from: RemoteInfo): void {
    const { responder, finder, allows } = this.#parts;
    if (!allows(from.address)) return;
    this.#answer(family, socket, bytes, from);
    for (const name of responder.namesIn(bytes)) {
      const answer = (isFound: boolean): void => {
        const isOpen = this.#sockets.get(family) === socket;
        if (isFound && isOpen) this.#answer(family, socket, bytes, from);
      };
      void finder.find(name)?.then(answer);
    }
  }

  #answer(family: Family, socket: Socket, bytes: Buffer, from: RemoteInfo): void {
    const { responder, onAnswered, nowMs } = this.#parts;
    const reply = responder.answer(bytes, from.port, nowMs());
    if (reply === undefined) return;
    onAnswered();
    // What can not be sent is lost, as UDP may.
    const sent = (): void => undefined;
    if (reply.to === "sender") socket.send(reply.bytes, from.port, from.address, sent);
    else socket.send(reply.bytes, MDNS_PORT, this.#groupOf(family), sent);
  }
}
