import type { NetlinkWriter } from "../../../wire/netlink/netlink-writer.ts";
import { type NetlinkSocket, requestError } from "./netlink-socket.ts";

/** One request that is done or refused. */
export interface Order {
  /** What is asked, for people. */
  readonly what: string;
  write(writer: NetlinkWriter, sequence: number): void;
  /** Whether all is as wanted though the kernel refused. Default: never. */
  isFine?(errno: number): boolean;
}

/** @throws CoreError ERR_SYSTEM_CALL with what was asked and the kernel's words */
export async function orderOne(socket: NetlinkSocket, order: Order): Promise<void> {
  const { what, write, isFine } = order;
  const { failures } = await socket.exchange({ count: 1, write });
  const [failure] = failures;
  if (failure !== undefined && isFine?.(failure.errno) !== true) throw requestError(what, failure);
}
