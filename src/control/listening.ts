import { chmod } from "node:fs/promises";
import { isIP, type Server } from "node:net";
import { removeStaleSocket } from "../brain/unix-socket.ts";
import { CoreError } from "../core/errors.ts";
import { isLoopback } from "../core/model/address.ts";
import { formatListenAddress, type ListenAddress } from "../core/options/listen-address.ts";

const OWNER_ONLY = 0o600;

/** How a controller is called where it can not listen. */
export interface ListenWords {
  /** `HTTP`. */
  readonly protocol: string;
  /** `--http-listen`. */
  readonly option: string;
}

/** Whether only this machine can reach it. */
export function isPrivate(address: ListenAddress): boolean {
  if (address.kind === "unix") return true;
  const { host } = address;
  return host === "localhost" || (isIP(host) !== 0 && isLoopback(host));
}

/**
 * Listens; a unix socket is its owner's alone.
 * @returns where, with the port that was found where 0 was asked for
 * @throws CoreError ERR_LISTEN
 */
export async function listenOn(
  server: Server,
  address: ListenAddress,
  { protocol, option }: ListenWords,
): Promise<ListenAddress> {
  if (address.kind === "unix") await removeStaleSocket(address.path);
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void => {
      const message = `can not listen on ${formatListenAddress(address)} for ${protocol}: ${cause.message}; choose another address with ${option}`;
      reject(new CoreError("ERR_LISTEN", message, { cause }));
    };
    server.once("error", fail);
    const listening = (): void => {
      server.off("error", fail);
      resolve();
    };
    if (address.kind === "unix") server.listen(address.path, listening);
    else server.listen(address.port, address.host, listening);
  });
  if (address.kind === "unix") await chmod(address.path, OWNER_ONLY);
  const bound = server.address();
  if (address.kind === "unix" || bound === null || typeof bound === "string") return address;
  return { ...address, port: bound.port };
}
