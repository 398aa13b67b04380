import type { StreamFd } from "../../net/fd.ts";
import type { ServerTalk } from "../health/server-talk.ts";
import type { Introduction, Opening } from "../openings/opening.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { DialHandler, Dialing } from "./dial.ts";
import type { DialTargets } from "./dial-targets.ts";
import type { RelayEnd } from "./relay-end.ts";

/** Has the service of a listener as it is now. */
export interface ServiceHolder {
  readonly service: StreamService;
}

/** What a listener decides about the connections of its clients; plain, SOCKS5 and others differ here. */
export interface StreamService {
  readonly key: string;
  readonly row: CounterRow;
  readonly inBufferBytes: number;
  readonly outBufferBytes: number;
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** What a client has to say first, in this order; often nothing. The caller's array. */
  openingsFor(client: StreamFd): Opening[];
  /** Whether the client may come in. */
  allows(client: StreamFd, introduction: Introduction): boolean;
  /**
   * Goes on with the client by itself, where nothing is to be connected for it: then it counts the
   * client as gone when it is. False where it does not.
   */
  takeOver?(client: RelayEnd, introduction: Introduction): boolean;
  /** Where to connect to; the callback may be called later. */
  findTargets(
    client: StreamFd,
    introduction: Introduction,
    found: (targets: DialTargets) => void,
  ): void;
  /** Another way to connect than straight to a target; undefined where it is that one. */
  dial?(
    targets: DialTargets,
    introduction: Introduction,
    handler: DialHandler,
  ): Dialing | undefined;
  /** How it speaks to a server of a group by itself; undefined where it does not, or has no such group. */
  talkTo?(group: string, server: string): ServerTalk | undefined;
  /** Nobody comes in any more; what it keeps for those who could is freed. */
  close?(): void;
  /** What the server is told before the first byte of the client. */
  greetServer(client: StreamFd, introduction: Introduction): Buffer;
  /** What the client is told when the connection stands. */
  answerConnected(server: StreamFd, introduction: Introduction): Buffer;
  /** What the client is told when it does not; where nothing, it is reset. */
  answerFailed(result: number, introduction: Introduction): Buffer;
}
