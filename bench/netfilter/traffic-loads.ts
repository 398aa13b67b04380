/** Answers of some bytes or of 16 KB over connections that stand, or of some bytes over new ones. */
export type Load = "small" | "large" | "short";

/** What is asked for, and over what. */
export interface Request {
  readonly connections: "keep" | "new";
  readonly path: string;
  readonly bodyBytes: number;
}

export const SMALL_BODY = "small";
export const LARGE_FILE = "large";
const LARGE_BYTES = 16_384;

export const REQUESTS: Readonly<Record<Load, Request>> = {
  small: { connections: "keep", path: "/", bodyBytes: SMALL_BODY.length },
  large: { connections: "keep", path: `/${LARGE_FILE}`, bodyBytes: LARGE_BYTES },
  short: { connections: "new", path: "/", bodyBytes: SMALL_BODY.length },
};
