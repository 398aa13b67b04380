import type { FieldList } from "./hpack/field-list.ts";
import type { Http2Config } from "./http2-config.ts";
import type { Http2Stream } from "./http2-stream.ts";
import type { ByteSink } from "./output-buffer.ts";

/** Is told what happens on a connection. */
export interface ConnectionHandler {
  /** The peer has opened a stream; its owner is to be set. */
  streamOpened(stream: Http2Stream, head: FieldList, isEnd: boolean): void;
  streamClosed(): void;
  /** The peer's first SETTINGS, or others: it may take more streams, or fewer. */
  settingsArrived(): void;
  /** The peer opens and takes no more streams; those that are open go on. */
  goAwayArrived(code: number): void;
  pingAnswered(): void;
}

export interface Http2ConnectionOptions {
  /** Which side this is. */
  readonly role: "server" | "client";
  readonly config: Http2Config;
  readonly sink: ByteSink;
  readonly handler: ConnectionHandler;
  readonly nowMs: () => number;
}
