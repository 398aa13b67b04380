import type { Listener } from "../core/model/listener.ts";

/** Whether rules can do what a listener asks: packets are led on, not read. */
export function isForTheKernel(listener: Listener): boolean {
  const { mode, tls, proxyProtocol, address } = listener;
  return (
    (mode === "tcp" || mode === "udp") &&
    tls === undefined &&
    proxyProtocol.send === "none" &&
    proxyProtocol.acceptFrom.length === 0 &&
    !address.startsWith("/")
  );
}
