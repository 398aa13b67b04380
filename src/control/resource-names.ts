/** Everything that commands can name. */
export const RESOURCE_NAMES = [
  // Desired state: objects of the store.
  "tcp-lb",
  "udp-lb",
  "socks5-server",
  "dns-server",
  "upstream",
  "server-group",
  "server",
  "security-group",
  "security-group-rule",
  "cert-key",
  "service",
  "endpoint",
  // Of the mesh: what follows and announces.
  "smart-group-delegate",
  "smart-node-delegate",
  // Of the engine: what runs.
  "event-loop-group",
  "event-loop",
  "server-sock",
  "connection",
  "session",
  "bytes-in",
  "bytes-out",
  "accepted-conn-count",
  "dns-cache",
  "resolver",
  // Of the instance itself.
  "resp-controller",
  "http-controller",
  "stdio-controller",
] as const;

export type ResourceName = (typeof RESOURCE_NAMES)[number];
