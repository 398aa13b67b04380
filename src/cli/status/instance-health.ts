import type { InstanceStatus } from "../../daemon/instance-socket/status-protocol.ts";
import type { Paint } from "../text/paint.ts";

/** How an instance is; one that has no parts yet has only begun. */
export function instanceHealth({
  ready,
  components,
}: InstanceStatus): "healthy" | "starting" | "not healthy" {
  if (components.length === 0) return "starting";
  return ready ? "healthy" : "not healthy";
}

const COLOURS = { healthy: "green", starting: "yellow", "not healthy": "red" } as const;

export function healthText(status: InstanceStatus, paint: Paint): string {
  const health = instanceHealth(status);
  return paint(COLOURS[health], health);
}
