import type { RequestHint } from "../../core/route/packet.ts";
import type { BodyPassage } from "../../wire/http1/body-passage.ts";
import type { ProxiedConnection } from "../../wire/proxy-protocol/proxy-header.ts";
import type { Socks5Address, Socks5Command } from "../../wire/socks5/socks5-words.ts";

/** What the first bytes of a client said. */
export interface Introduction {
  /** Where it wants to go. */
  readonly hint?: RequestHint;
  /** The connection that a trusted proxy speaks for. */
  readonly proxied?: ProxiedConnection;
  /** The very target that it asked for, and wants to hear about. */
  readonly wanted?: Socks5Address;
  /** What it wants of it. */
  readonly command?: Exclude<Socks5Command, "bind">;
  /** In which words it asked, where it may use several. */
  readonly asked?: "socks5" | "connect" | "http";
  /** The message that is for where it wants to go, as far as it came; missing: all that comes is. */
  readonly passage?: BodyPassage;
  /** What it was let in by, which may be withdrawn before it asks for something. */
  readonly pass?: string;
}

/** What comes of the bytes so far. `say` goes to the client. */
export type OpeningStep =
  /** With `isAlive` the client has as much time again. */
  | { readonly kind: "more"; readonly say?: Buffer; readonly isAlive?: boolean }
  /** It is over; `rest` are the bytes after it, or all of them where they pass on untouched. */
  | {
      readonly kind: "done";
      readonly introduction: Introduction;
      readonly rest: Buffer;
      readonly say?: Buffer;
    }
  /** The client is to be closed. */
  | { readonly kind: "refused"; readonly reason: string; readonly say?: Buffer }
  /** The client gets an answer of any length, after a while, and is closed when it has it. */
  | {
      readonly kind: "farewell";
      readonly say: Buffer;
      readonly afterMs: number;
      /** Why it was refused; missing where it was served. */
      readonly reason?: string;
    };

/** Reads what a client says before bytes pass, without I/O. Not to be fed after its end. */
export interface Opening {
  /** How long a client may take. */
  readonly patienceMs: number;
  /** Whether the client waits with nothing under way: it can be closed without loss. */
  readonly isIdle?: boolean;
  /** Whether it says whom the client speaks for: whether that one may come in is known after it. */
  readonly tellsClient?: boolean;
  feed(chunk: Buffer): OpeningStep;
  /** The client says no more, or takes too long: never `more`. */
  giveUp(): OpeningStep;
}

/** For what a client has to say before anything else can be done: nobody honest takes longer. */
export const HANDSHAKE_PATIENCE_MS = 10_000;

/** How long a client that shall leave may still come with a request that was on its way. */
export const LEAVE_PATIENCE_MS = 500;

export const MORE: OpeningStep = Object.freeze({ kind: "more" });
