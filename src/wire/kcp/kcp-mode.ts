/** How eager a connection is. The numbers are those that KCP's users know. */
export interface KcpMode {
  /** How long an acknowledgement may wait for company. */
  readonly intervalMs: number;
  readonly minRtoMs: number;
  /** So many later packets acknowledged mean that one is lost. */
  readonly resendAfter: number;
  /** By what the wait for an answer grows each time that none comes. */
  readonly backoff: number;
}

export type FastLevel = 1 | 2 | 3 | 4;
export const DEFAULT_FAST_LEVEL: FastLevel = 4;

/** From sparing to eager: each one hears of a loss sooner, and takes more processor time. */
export const KCP_MODES: Readonly<Record<FastLevel, KcpMode>> = {
  1: { intervalMs: 30, minRtoMs: 60, resendAfter: 3, backoff: 2 },
  2: { intervalMs: 20, minRtoMs: 60, resendAfter: 3, backoff: 2 },
  3: { intervalMs: 10, minRtoMs: 30, resendAfter: 2, backoff: 1.5 },
  4: { intervalMs: 5, minRtoMs: 30, resendAfter: 1, backoff: 1.5 },
};
