import {
  type AnnouncedInstance,
  announcedEndpoint,
} from "../brain/announcements/announced-instance.ts";
import { abortable } from "../core/abortable.ts";
import { formatHostPort } from "../core/model/address.ts";
import { keyOf } from "../core/model/object.ts";
import type { Announcer } from "./announcer.ts";

/**
 * One place of a service is announced once: where a second delegate of this instance has the same one, it says so
 * and waits for the end of the first, which would withdraw it for both.
 */
export function announceInTurn(announcer: Announcer): Announcer {
  const ends = new Map<string, Promise<void>>();
  const hold = async (key: string, over: Promise<void>): Promise<void> => {
    ends.set(key, over);
    try {
      await over;
    } finally {
      ends.delete(key);
    }
  };
  return {
    where: announcer.where,
    announce: async (instance, tell, signal) => {
      const key = keyOf(announcedEndpoint(instance));
      for (let end = ends.get(key); end !== undefined; end = ends.get(key)) {
        tell({ isMade: false, problem: alreadyAnnounced(instance) });
        await abortable(end, signal).catch(() => undefined);
        if (signal.aborted) return;
      }
      await hold(key, announcer.announce(instance, tell, signal));
    },
    leave: () => announcer.leave(),
    close: () => announcer.close(),
  };
}

function alreadyAnnounced({ address, port, service }: AnnouncedInstance): string {
  return `${formatHostPort(address, port)} of service ${service} is announced by another delegate of this instance; expected one of them`;
}
