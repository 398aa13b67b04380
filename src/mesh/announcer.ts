import type { AnnouncedInstance } from "../brain/announcements/announced-instance.ts";

/** How an announcement does. */
export interface AnnouncementState {
  /** Whether others can know of it. */
  readonly isMade: boolean;
  /** Why not; empty where nothing is wrong. */
  readonly problem: string;
}

/** Makes an instance known to those who follow its service. */
export interface Announcer {
  /** For people: `etcd:10.0.0.1:2379`. */
  readonly where: string;
  /**
   * Announces until the signal comes, through whatever fails meanwhile; then withdraws.
   * @returns when it is withdrawn, or could not be in time
   */
  announce(
    instance: AnnouncedInstance,
    tell: (state: AnnouncementState) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Another process announces the same from now on: nothing is withdrawn any more, its time ends it. */
  leave(): void;
  close(): void;
}
