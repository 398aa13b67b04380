import { randomUUID } from "node:crypto";
import type { AnnouncedInstance } from "../brain/announcements/announced-instance.ts";
import { ANNOUNCE, WITHDRAW } from "../brain/announcements/announcement-methods.ts";
import { ManagerClient } from "../brain/manager/client/manager-client.ts";
import { abortable } from "../core/abortable.ts";
import { isRefusal } from "../core/errors.ts";
import type { Http2Target } from "../platform/http2/connect-http2.ts";
import type { Announcer } from "./announcer.ts";
import { type RetryWorld, retryUntil } from "./retry-until.ts";

export interface ApiAnnouncerOptions extends Http2Target, RetryWorld {
  readonly where: string;
  readonly ttlMs: number;
}

/** So often within its time it is announced again: one call may fail. */
const RENEWALS = 3;
/** Who ends does not wait longer. */
const WITHDRAW_MS = 3000;

/** Announces to a server of the API that takes it, again and again: what a machine that dies has announced goes by itself. */
export function createApiAnnouncer(options: ApiAnnouncerOptions): Announcer {
  const { where, ttlMs, sleep } = options;
  const id = randomUUID();
  let isLeft = false;
  return {
    where,
    announce: async (instance, tell, signal) => {
      let isTold = false;
      const attempt = async (made: () => void): Promise<void> => {
        const client = await ManagerClient.connect(options, signal);
        let isMade = false;
        try {
          while (!signal.aborted) {
            // The brain may have heard it even where its answer never comes.
            isTold = true;
            await abortable(client.call(ANNOUNCE, { ...instance, id, ttlMs }), signal);
            isMade = true;
            made();
            await Promise.race([
              sleep(ttlMs / RENEWALS, signal).catch(() => undefined),
              client.ended,
            ]);
          }
        } catch (error) {
          // What was shown is over by now, but it may have been renewed: that is shown before anything is told.
          if (!isMade || !isRefusal(error)) throw error;
        } finally {
          client.close();
        }
      };
      await retryUntil(attempt, tell, signal, options);
      if (isTold && !isLeft) await withdraw(options, instance, id).catch(() => undefined);
    },
    leave: () => {
      isLeft = true;
    },
    close: () => undefined,
  };
}

async function withdraw(
  options: ApiAnnouncerOptions,
  { service, address, port }: AnnouncedInstance,
  id: string,
): Promise<void> {
  const over = new AbortController();
  const act = async (): Promise<void> => {
    const client = await ManagerClient.connect(options, over.signal);
    try {
      await abortable(client.call(WITHDRAW, { id, service, address, port }), over.signal);
    } finally {
      client.close();
    }
  };
  try {
    await Promise.race([act(), options.sleep(WITHDRAW_MS, over.signal)]);
  } finally {
    over.abort();
  }
}
