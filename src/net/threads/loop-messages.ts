/** What the main thread and a loop's thread say to each other. All of it can be cloned. */
import type { MessagePort } from "node:worker_threads";
import type { TunnelSettings } from "../kcp/kcp-options.ts";
import type { Transport } from "../listeners/socket-lending.ts";
import type { ChannelEntry, ChannelId } from "../selector-event-loop.ts";

/** From the main thread to a loop; they are done in the order they were sent. */
export type LoopCommand =
  /** For the program. */
  | { readonly kind: "program"; readonly body: unknown }
  /** Lends a listening socket; several loops may have the same one, unless it is for datagrams. */
  | {
      readonly kind: "lend";
      readonly listener: string;
      readonly transport: Transport;
      readonly descriptor: number;
    }
  /** Wants it back: answered when no event of it can come any more. */
  | { readonly kind: "take-back"; readonly request: number; readonly descriptor: number }
  /** Another loop that this one can send to. */
  | {
      readonly kind: "peer";
      readonly loop: string;
      readonly port: MessagePort;
      readonly wakeDescriptor: number;
      readonly ledgerMemory: SharedArrayBuffer;
    }
  /** Answered when nothing is sent to it any more. */
  | { readonly kind: "peer-gone"; readonly request: number; readonly loop: string }
  /** Finish what is open, then answer; nothing new comes. */
  | { readonly kind: "drain"; readonly request: number }
  | { readonly kind: "channels"; readonly request: number }
  | { readonly kind: "dismiss"; readonly request: number; readonly id: ChannelId }
  | { readonly kind: "profile"; readonly request: number; readonly durationMs: number };

/** From one loop to another. */
export type PeerMessage =
  | { readonly kind: "program"; readonly body: unknown }
  /** A connection, which is the receiver's from now on. */
  | { readonly kind: "stream"; readonly descriptor: number; readonly body: unknown };

export type LogLevel = "debug" | "info" | "warn" | "error";

/** From a loop to the main thread. */
export type LoopReport =
  | { readonly kind: "ready" }
  | { readonly kind: "program"; readonly body: unknown }
  | {
      readonly kind: "log";
      readonly level: LogLevel;
      readonly fields: object;
      readonly message: string;
    }
  /** The answer to the command with that number. */
  | { readonly kind: "done"; readonly request: number }
  | { readonly kind: "refused"; readonly request: number; readonly reason: string }
  | {
      readonly kind: "channels";
      readonly request: number;
      readonly channels: readonly ChannelEntry[];
      /** More of them follow under the same number. */
      readonly hasMore: boolean;
    }
  /** A CPU profile as `.cpuprofile` holds it. */
  | { readonly kind: "profile"; readonly request: number; readonly profile: string };

/** What a loop's thread starts with. */
export interface LoopThreadData {
  readonly name: string;
  readonly commands: MessagePort;
  readonly wakeDescriptor: number;
  readonly programData: unknown;
  readonly maxFds: number;
  readonly ledgerMemory: SharedArrayBuffer;
  readonly counterMemory: SharedArrayBuffer;
  readonly signalMemory: SharedArrayBuffer;
  readonly alwaysSleeps: boolean;
  /** Missing: addresses of KCP can not be reached. */
  readonly tunnels?: TunnelSettings | undefined;
  /** For what tunnels count. */
  readonly tunnelMemory: SharedArrayBuffer;
}
