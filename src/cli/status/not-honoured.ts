import type { InstanceStatus } from "../../daemon/instance-socket/status-protocol.ts";

export interface NotHonoured {
  /** With whom each is of. */
  readonly lines: readonly string[];
  /** How many more hold on this machine whatever is asked for. */
  readonly left: number;
}

/** What is asked for and can not be had. @param all also what holds whatever is asked for */
export function notHonouredOf({ components }: InstanceStatus, all: boolean): NotHonoured {
  let left = 0;
  const lines = components.flatMap(({ name, notHonoured, always = 0 }) => {
    const shown = all ? notHonoured : notHonoured.slice(always);
    left += notHonoured.length - shown.length;
    return shown.map((what) => `${name}: ${what}`);
  });
  return { lines, left };
}
