import { protocolOf } from "../../core/model/listener.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";
import { socketIdOf } from "../loop/socket-id.ts";
import type { Fleet, OpenSocket } from "./fleet.ts";

/** The listening sockets of an engine; those for datagrams are the loops' own. */
export class ListenerSockets {
  readonly #open = new Map<string, OpenSocket>();

  /** Opens what is missing, then closes what is wanted no more. What could not be opened, in words. */
  async follow(listeners: readonly ListenerConfig[], fleet: Fleet): Promise<readonly string[]> {
    const wanted = new Map<string, ListenerConfig>();
    const problems: string[] = [];
    for (const listener of listeners) {
      const id = socketIdOf(listener);
      const other = wanted.get(id);
      if (other === undefined) wanted.set(id, listener);
      else problems.push(`listener ${listener.key}: ${id} is taken by listener ${other.key}`);
    }
    for (const [id, listener] of wanted) {
      const problem = await this.#ensure(id, listener, fleet);
      if (problem !== undefined) problems.push(problem);
    }
    for (const [id, socket] of [...this.#open]) {
      if (wanted.has(id)) continue;
      this.#open.delete(id);
      await socket.close();
    }
    return problems;
  }

  /** Undefined where it is not open, or of the loops. */
  addressOf(listener: ListenerConfig): SocketAddress | undefined {
    return this.#open.get(socketIdOf(listener))?.address;
  }

  async closeAll(): Promise<void> {
    const sockets = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(sockets.map((socket) => socket.close()));
  }

  async #ensure(id: string, listener: ListenerConfig, fleet: Fleet): Promise<string | undefined> {
    if (this.#open.has(id) || protocolOf(listener) !== "TCP") return undefined;
    try {
      this.#open.set(id, await fleet.listen(id, listener.address));
      return undefined;
    } catch (error) {
      return `listener ${listener.key}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}
