/** What one controller takes at most. */
export interface HttpLimits {
  /** For one more the oldest that has not shown the token is closed; where there is none, the new one. */
  readonly maxConnections: number;
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  /** For the head of a request, from the opening of the connection on. */
  readonly headersTimeoutMs: number;
  /** For a whole request. */
  readonly requestTimeoutMs: number;
  /** How long a connection may stay between requests. */
  readonly keepAliveMs: number;
  /** How long nothing may move while an answer is awaited or sent. */
  readonly stallTimeoutMs: number;
  /** How often time-outs are looked at. */
  readonly checkIntervalMs: number;
  /** Requests in work at once. */
  readonly maxInWork: number;
  /** How long the answer to a wrong token is held back. */
  readonly wrongTokenDelayMs: number;
  readonly maxWatchers: number;
  /** So much may wait for a watcher that does not read; then it is dropped. */
  readonly maxWatcherBytes: number;
  readonly heartbeatMs: number;
  /** For answers that are under way when the controller is closed. */
  readonly closeGraceMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  maxConnections: 1024,
  maxBodyBytes: 1_048_576,
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 30_000,
  stallTimeoutMs: 120_000,
  checkIntervalMs: 1000,
  maxInWork: 256,
  wrongTokenDelayMs: 250,
  maxWatchers: 64,
  maxWatcherBytes: 65_536,
  heartbeatMs: 15_000,
  closeGraceMs: 1000,
};
