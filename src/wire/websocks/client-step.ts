import type { Socks5ReplyWord } from "../socks5/socks5-words.ts";

/** What comes of the bytes of a server so far. `say` goes to it. */
export type ClientStep =
  | { readonly kind: "more"; readonly say?: Buffer }
  /** It is over; `rest` is what the server has said after it. */
  | { readonly kind: "done"; readonly rest: Buffer }
  /** The server is good, but has not got to the target. */
  | { readonly kind: "refused"; readonly word: Socks5ReplyWord }
  /** The server can not be used, or not by us. */
  | { readonly kind: "failed"; readonly reason: string };

/** The client's side of a talk, without I/O. Not to be fed after its end. */
export interface ClientTalk {
  /** What the client says first. */
  readonly first: Buffer;
  feed(chunk: Buffer): ClientStep;
}
