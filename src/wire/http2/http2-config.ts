import type { FloodLimits } from "./flood-guard.ts";
import type { FieldLimits } from "./hpack/field-list.ts";

/** How one side of a connection behaves. */
export interface Http2Config {
  /** How many streams the peer may have open. */
  readonly maxConcurrentStreams: number;
  /** How much of one stream is kept for a slow reader, and of all streams together. */
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
  /**
   * When the peer may send more on the connection. `on-use`: the streams share what is kept for the
   * connection. `on-arrival`: each has its own, and one that nobody reads does not hold up the others.
   */
  readonly connectionCredit: "on-use" | "on-arrival";
  readonly fields: FieldLimits;
  /** Of one header block as it is sent, and of the frames that it comes in. */
  readonly maxBlockBytes: number;
  readonly maxBlockFrames: number;
  readonly floods: FloodLimits;
}

const COMMON = {
  fields: Object.freeze({ maxListBytes: 65_536, maxFields: 200 }),
  maxBlockBytes: 65_536,
  maxBlockFrames: 32,
  floods: Object.freeze({
    resetBurst: 1000,
    resetsPerSecond: 200,
    idleFrameBurst: 1000,
    idleFramesPerSecond: 100,
  }),
} as const;

/** Toward clients: the streams of one connection are of one client, who pays for what it does not read. */
export const SERVER_CONFIG: Http2Config = Object.freeze({
  ...COMMON,
  maxConcurrentStreams: 128,
  streamWindowBytes: 262_144,
  connectionWindowBytes: 1_048_576,
  connectionCredit: "on-use",
});

/** Toward servers: the streams of one connection are of many clients. */
export const CLIENT_CONFIG: Http2Config = Object.freeze({
  ...COMMON,
  maxConcurrentStreams: 0,
  streamWindowBytes: 65_535,
  connectionWindowBytes: 16_777_216,
  connectionCredit: "on-arrival",
});
