import { canonicalIp } from "../model/address.ts";
import { formatListenAddress, type ListenAddress } from "./listen-address.ts";

/** Where a listener is. */
export interface ListenPlace {
  /** An IP address or a path. */
  readonly address: string;
  /** 0 for a path. */
  readonly port: number;
}

/** @param problems gets what is wrong with `--listen`, in words */
export function listenPlace(
  listen: ListenAddress | undefined,
  problems: string[],
): ListenPlace | undefined {
  if (listen === undefined) {
    problems.push("--listen: missing; expected HOST:PORT, PORT or unix:PATH");
    return undefined;
  }
  if (listen.kind === "unix") {
    if (listen.path.startsWith("/")) return { address: listen.path, port: 0 };
    problems.push(
      `--listen: "unix:${listen.path}" is not valid; expected a path that begins with /`,
    );
    return undefined;
  }
  const address = canonicalIp(listen.host);
  if (address !== undefined && listen.port !== 0) return { address, port: listen.port };
  const text = formatListenAddress(listen);
  problems.push(
    `--listen: "${text}" is not valid; expected an IP address and a port from 1 to 65535`,
  );
  return undefined;
}
