import type { HealthEvent } from "../../control/control.ts";
import type { EventItem } from "../instance-socket/command-protocol.ts";
import type { LiveParts } from "./live-parts.ts";
import type { LogLine, LogRing } from "./log-ring.ts";
import { Mailbox } from "./mailbox.ts";

const MAX_WAITING = 10_000;

/** What the engine logs of servers comes as an event with the names that commands know. */
const OF_HEALTH: readonly string[] = ["a server is up", "a server is down"];

/** Lines of the log and changes of health, from now on. */
export function followEvents(
  live: LiveParts,
  ring: LogRing,
  signal: AbortSignal,
): AsyncIterable<EventItem> {
  const events = new Mailbox<EventItem>({ limit: MAX_WAITING, signal });
  const control = live.control?.control;
  const stopLog = ring.onLine((line) => {
    if (control !== undefined && OF_HEALTH.includes(line.message)) return;
    events.put(eventOf(line));
  });
  const stopHealth = control?.onHealth((event) => events.put(healthItem(event)));
  signal.addEventListener(
    "abort",
    () => {
      stopLog();
      stopHealth?.();
    },
    { once: true },
  );
  return events;
}

function eventOf({ level, message, fields }: LogLine): EventItem {
  const shown = Object.entries(fields).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number" ? [`${name}=${value}`] : [],
  );
  return { level, message: [message, ...shown].join(" ") };
}

function healthItem({ serverGroup, server, address, health, reason }: HealthEvent): EventItem {
  const what = `server ${server} (${address}) in server-group ${serverGroup} is ${health}`;
  return health === "up"
    ? { level: "info", message: what }
    : { level: "warn", message: `${what}: ${reason}` };
}
