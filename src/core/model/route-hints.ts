/** What a request says about where it wants to go; empty fields say nothing. */
export interface RouteHints {
  /** `a.example`, `*.example` for its sub-domains, `*` for any. */
  readonly host: string;
  readonly port: number;
  /** Prefix of the path, by whole segments. */
  readonly path: string;
}

export const NO_HINTS: RouteHints = Object.freeze({ host: "", port: 0, path: "" });
