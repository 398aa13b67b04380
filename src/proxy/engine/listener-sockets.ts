import { messageOf } from "../../core/errors.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";
import { socketsOf } from "../loop/socket-id.ts";
import type { Fleet, OpenSocket, SocketWish } from "./fleet.ts";
import type { LoopRoute } from "./loop-routes.ts";

/** A listener, and the groups of loops that it uses. */
export interface PlacedListener {
  readonly listener: ListenerConfig;
  readonly route: Pick<LoopRoute, "accept" | "work">;
}

/** Why a listener does not listen. */
export interface ListenerProblem {
  readonly listener: string;
  /** With the listener. */
  readonly message: string;
}

interface Wanted {
  readonly key: string;
  readonly socket: SocketWish;
  readonly group: string;
}

/** The listening sockets of an engine. */
export class ListenerSockets {
  readonly #open = new Map<string, OpenSocket>();

  /**
   * Opens what is missing, moves what shall be on other loops, then closes what is wanted no more.
   * What could not be opened.
   */
  async follow(
    listeners: readonly PlacedListener[],
    fleet: Pick<Fleet, "listen">,
  ): Promise<readonly ListenerProblem[]> {
    const problems: ListenerProblem[] = [];
    const wanted = wantedSockets(listeners, problems);
    const missing: Wanted[] = [];
    for (const one of wanted.values()) {
      if ((await this.#ensure(one, fleet)) !== undefined) missing.push(one);
    }
    for (const [id, socket] of [...this.#open]) {
      if (wanted.has(id)) continue;
      this.#open.delete(id);
      await socket.close();
    }
    // One of our own may have been in the way: a wildcard, or an address that it covers.
    for (const one of missing) {
      const problem = await this.#ensure(one, fleet);
      if (problem !== undefined) problems.push(problem);
    }
    return problems;
  }

  /** Undefined where it is not open. */
  addressOf(listener: ListenerConfig): SocketAddress | undefined {
    const [first] = socketsOf(listener);
    return first && this.#open.get(first.id)?.address;
  }

  /** All that are open; their descriptors, by id. */
  descriptors(): ReadonlyMap<string, readonly number[]> {
    return new Map([...this.#open].map(([id, socket]) => [id, socket.descriptors()]));
  }

  /** Another process serves them from now on. */
  async releaseAll(): Promise<void> {
    await Promise.all(this.#takeAll().map((socket) => socket.release()));
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.#takeAll().map((socket) => socket.close()));
  }

  #takeAll(): readonly OpenSocket[] {
    const sockets = [...this.#open.values()];
    this.#open.clear();
    return sockets;
  }

  async #ensure(
    { key, socket, group }: Wanted,
    fleet: Pick<Fleet, "listen">,
  ): Promise<ListenerProblem | undefined> {
    const open = this.#open.get(socket.id);
    if (open !== undefined) {
      await open.moveTo(group);
      return undefined;
    }
    try {
      this.#open.set(socket.id, await fleet.listen(socket, group));
      return undefined;
    } catch (error) {
      const why = messageOf(error);
      return { listener: key, message: `listener ${key}: ${why}` };
    }
  }
}

/** Of two that want the same, the first has it. */
function wantedSockets(
  listeners: readonly PlacedListener[],
  problems: ListenerProblem[],
): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { listener, route } of listeners) {
    const { key, address } = listener;
    for (const { id, transport } of socketsOf(listener)) {
      const other = wanted.get(id);
      const group = transport === "stream" ? route.accept : route.work;
      if (other === undefined) wanted.set(id, { key, socket: { id, transport, address }, group });
      else {
        const message = `listener ${key}: ${id} is taken by listener ${other.key}`;
        problems.push({ listener: key, message });
      }
    }
  }
  return wanted;
}
