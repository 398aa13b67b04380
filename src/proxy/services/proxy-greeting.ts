import type { ProxyProtocol } from "../../core/model/listener.ts";
import type { StreamFd } from "../../net/fd.ts";
import type { ProxiedConnection } from "../../wire/proxy-protocol/proxy-header.ts";
import { renderProxyV1 } from "../../wire/proxy-protocol/proxy-v1.ts";
import { renderProxyV2 } from "../../wire/proxy-protocol/proxy-v2.ts";

const NO_BYTES = Buffer.alloc(0);

/**
 * What a server is told first about who calls; nothing where nothing is to be sent.
 * @param proxied what a trusted proxy before this one has said about the client
 */
export function proxyGreeting(
  send: ProxyProtocol["send"],
  client: StreamFd,
  proxied: ProxiedConnection | undefined,
): Buffer {
  switch (send) {
    case "none":
      return NO_BYTES;
    case "v1":
      return renderProxyV1(proxied ?? connectionOf(client));
    case "v2":
      return renderProxyV2(proxied ?? connectionOf(client));
  }
}

/** Undefined where the ends have no IP addresses: the server is told that nothing is known. */
function connectionOf(client: StreamFd): ProxiedConnection | undefined {
  const [source, destination] = [client.remoteAddress(), client.localAddress()];
  if (source.family === "unix" || destination.family === "unix") return undefined;
  return {
    transport: "TCP",
    source: { ip: source.ip, port: source.port },
    destination: { ip: destination.ip, port: destination.port },
  };
}
