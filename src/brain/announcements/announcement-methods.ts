import type { ApiGate, Caller } from "../api-gate.ts";
import { parseRequest } from "../parse-request.ts";
import { announceSchema, withdrawSchema } from "./announced-instance.ts";
import type { AnnouncementBook } from "./announcement-book.ts";

const MESH_SERVICE = "/meshv1.Mesh/";

/** The paths of the methods. */
export const ANNOUNCE: string = `${MESH_SERVICE}Announce`;
export const WITHDRAW: string = `${MESH_SERVICE}Withdraw`;

/**
 * What instances may say of themselves.
 * @param assertMay whether a caller may speak for a service; throws where it may not
 */
export function announcementMethods(
  announcements: AnnouncementBook,
  assertMay: (caller: Caller, service: string) => void,
): ApiGate["methods"] {
  return new Map([
    [
      ANNOUNCE,
      async (caller: Caller, raw: unknown): Promise<object> => {
        const request = parseRequest(announceSchema, raw);
        assertMay(caller, request.service);
        await announcements.announce(request);
        return {};
      },
    ],
    [
      WITHDRAW,
      async (caller: Caller, raw: unknown): Promise<object> => {
        const request = parseRequest(withdrawSchema, raw);
        assertMay(caller, request.service);
        return { isGone: await announcements.withdraw(request) };
      },
    ],
  ]);
}

/** For a server that lets everybody speak who may call it. */
export function openGate(announcements: AnnouncementBook): ApiGate {
  return {
    methods: announcementMethods(announcements, () => undefined),
    assertMayWatch: () => undefined,
  };
}
