import type { StreamFd } from "../../net/fd.ts";
import type { ClientTalk } from "../../wire/websocks/client-step.ts";

/** What is spoken with a server before it counts as up, where that it takes connections says too little. */
export interface ServerTalk {
  /** The connection as it is spoken on: perhaps within TLS. */
  secure(fd: StreamFd): StreamFd;
  readonly talk: ClientTalk;
}
