import type { Control, HealthEvent } from "../control.ts";
import { EventWatch } from "./event-watch.ts";
import type { HttpLimits } from "./limits.ts";

/** Tells changes of health to all who watch. */
export function createHealthWatch(control: Control, limits: HttpLimits): EventWatch {
  return new EventWatch((send) => control.onHealth((event) => send(eventText(event))), limits);
}

function eventText(event: HealthEvent): string {
  return `event: health-check\ndata: ${JSON.stringify(event)}\n\n`;
}
