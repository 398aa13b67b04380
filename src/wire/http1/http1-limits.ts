/** What is accepted of one message; a larger one is refused as soon as that is known. */
export interface Http1Limits {
  readonly maxHeadBytes: number;
  readonly maxTargetBytes: number;
  readonly maxFields: number;
  /** Chunk extensions and trailers of one body, together. */
  readonly maxChunkOverheadBytes: number;
}

export const DEFAULT_HTTP1_LIMITS: Http1Limits = Object.freeze({
  maxHeadBytes: 16_384,
  maxTargetBytes: 8192,
  maxFields: 100,
  maxChunkOverheadBytes: 8192,
});
