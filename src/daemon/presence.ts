import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { CoreError, messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { InstanceHandlers } from "./instance-socket/answer.ts";
import { callInstance } from "./instance-socket/client.ts";
import { SOCKET_NAME } from "./instance-socket/protocol.ts";
import { startInstanceServer } from "./instance-socket/server.ts";
import { defaultStateFolder } from "./instance-socket/state-folder.ts";

/** Sockets of the process that ran before; see `TakenSockets`. */
export interface TakenOver {
  readonly sockets: ReadonlyMap<string, readonly number[]>;
  /** Serves them: the other process releases its own and ends. */
  confirm(): void;
  /** Does not: the other process goes on. */
  abandon(): void;
}

/** What is handed to the process that comes next. */
export interface OfferedSockets {
  readonly sockets: () => ReadonlyMap<string, readonly number[]>;
  readonly onTaken: () => void;
  /** The process that was given them is gone, and does not serve them. */
  readonly onAbandoned: () => void;
}

/** How other processes find an instance, and how one takes the place of another. */
export interface Presence {
  /** Whether somebody named the folder, or it holds a journal: then it has to be had. */
  readonly isWanted: boolean;
  /**
   * Lets others ask. Where the folder was not named and can not be had, it goes on without.
   * @throws CoreError ERR_INSTANCE, ERR_LISTEN
   */
  open(handlers: InstanceHandlers, options: { readonly replaces: boolean }): Promise<Door>;
  /** @throws CoreError ERR_INSTANCE where none runs */
  takeOver(): Promise<TakenOver>;
  /** Hands sockets out to whoever of this user comes to `path`. */
  offer(offered: OfferedSockets): Promise<Door & { readonly path: string }>;
}

export interface Door {
  close(): Promise<void>;
}

/** Where the instance with that state folder, or the user's, listens. */
export function instancePath(state: string | undefined): string {
  return join(state ?? stateFolder(), SOCKET_NAME);
}

/** @param isWanted whether it has to be had, also where nobody named the folder */
export function createPresence(state: string | undefined, log: Log, isWanted: boolean): Presence {
  const path = instancePath(state);
  return {
    isWanted,
    open: async (handlers, { replaces }) => {
      try {
        return await startInstanceServer({ path, pid: process.pid, replaces, handlers });
      } catch (error) {
        if (isWanted) throw error;
        const why = messageOf(error);
        const message = `other commands will not find this instance; name a folder for it with --state: ${why}`;
        const isTaken = error instanceof CoreError && error.code === "ERR_INSTANCE";
        log[isTaken ? "info" : "debug"]({ path }, message);
        return { close: async () => undefined };
      }
    },
    takeOver: async () => {
      const { path: offer } = await callInstance(path, "take-over", {});
      const { takeOver } = await import("../net/take-over/take-over.ts");
      const { listeners, confirm, abandon } = takeOver(offer);
      return { sockets: listeners, confirm, abandon };
    },
    offer: (offered) => openOffer(`${path}.${process.pid}.offer`, offered, log),
  };
}

async function openOffer(
  path: string,
  { sockets, onTaken, onAbandoned }: OfferedSockets,
  log: Log,
): Promise<Door & { readonly path: string }> {
  const { SocketOffer } = await import("../net/take-over/socket-offer.ts");
  const offer = new SocketOffer(path, {
    log,
    listeners: () => [...sockets()].map(([id, list]) => ({ id, descriptors: () => list })),
    onTaken,
    onAbandoned,
  });
  return { path, close: async () => offer.close() };
}

function stateFolder(): string {
  return defaultStateFolder({
    environment: process.env,
    home: homedir(),
    os: process.platform,
  });
}
