import type { Log } from "../../core/log.ts";
import type { LoopThreadHost } from "../../net/threads/loop-thread.ts";
import { type IpSocketAddress, ipAddress } from "../../platform/socket-address.ts";
import { machineFamilies } from "../environment/machine-families.ts";
import { Tunnel, type TunnelOptions } from "../tunnel/tunnel.ts";
import { plainEndpoint } from "./plain-endpoint.ts";

export interface GuardedTunnel {
  readonly tunnel: Tunnel;
  /** True once nothing passes any more, as somebody removed its link or its loop ended. */
  readonly isLost: boolean;
  close(): Promise<void>;
}

/** Opens a tunnel, and tells when it is lost: once, and not when it is closed. @throws CoreError what the tunnel does */
export async function openGuardedTunnel(
  host: LoopThreadHost,
  options: Omit<TunnelOptions, "onMoved" | "onLost">,
  { log, onLost }: { readonly log: Log; readonly onLost: () => void },
): Promise<GuardedTunnel> {
  const state = { isLost: false, isClosed: false };
  const lose = (reason: string): void => {
    if (state.isLost || state.isClosed) return;
    state.isLost = true;
    log.error({ tun: options.tunName, reason }, "the tunnel is lost");
    onLost();
  };
  const tunnel = await Tunnel.open(host, {
    ...options,
    onMoved: (peer, endpoint) =>
      log.info({ peer, endpoint: plainEndpoint(endpoint) }, "a node is somewhere else now"),
    onLost: lose,
  });
  void tunnel.ended.then(() => lose("its loop ended"));
  return {
    tunnel,
    get isLost() {
      return state.isLost;
    },
    close: async () => {
      state.isClosed = true;
      await tunnel.close();
    },
  };
}

/** Where a tunnel listens for all of this machine's families. */
export function everywhere(port: number): IpSocketAddress {
  return ipAddress(machineFamilies().includes("v6") ? "::" : "0.0.0.0", port);
}
