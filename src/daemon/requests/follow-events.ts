import * as z from "zod";
import type { HealthEvent } from "../../control/control.ts";
import { CONTROL_OWNER } from "../../control/world.ts";
import type { EventItem } from "../instance-socket/command-protocol.ts";
import type { LiveParts } from "./live-parts.ts";
import type { LogLine, LogRing } from "./log-ring.ts";
import { Mailbox } from "./mailbox.ts";

const MAX_WAITING = 10_000;
/** So many objects that a source changed are named in one line. */
const MAX_NAMED = 5;

/** What `writeAudit` says of a transaction. */
const changeAudit = z.object({
  owner: z.string(),
  changes: z.array(z.string()),
  more: z.number(),
});

/** What `audited` says of a command; the message where it was refused. */
const commandAudit = z.object({ from: z.string(), message: z.string().optional() });

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
    const event = eventOf(line);
    if (event !== undefined) events.put(event);
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

/** Undefined where another line tells the same: what commands change, they say themselves. */
function eventOf({ level, message, fields }: LogLine): EventItem | undefined {
  const audit = "audit" in fields ? fields.audit : undefined;
  const change = changeAudit.safeParse(audit);
  if (change.success) {
    return change.data.owner === CONTROL_OWNER
      ? undefined
      : { level, message: inWords(change.data) };
  }
  const command = commandAudit.safeParse(audit);
  if (command.success) {
    const { from, message: why } = command.data;
    return { level, message: why === undefined ? message : `${message}: ${why}`, from };
  }
  const shown = Object.entries(fields).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number" ? [`${name}=${value}`] : [],
  );
  return { level, message: [message, ...shown].join(" ") };
}

function inWords({ owner, changes, more }: z.infer<typeof changeAudit>): string {
  const named = changes.slice(0, MAX_NAMED);
  const rest = changes.length - named.length + more;
  return `${owner}: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function healthItem({ serverGroup, server, address, health, reason }: HealthEvent): EventItem {
  const what = `server ${server} (${address}) in server-group ${serverGroup} is ${health}`;
  return health === "up"
    ? { level: "info", message: what }
    : { level: "warn", message: `${what}: ${reason}` };
}
