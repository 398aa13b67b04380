/** How the end of a body is known. */
export type BodyFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  /** Of a response only: it ends with the connection. */
  | { readonly kind: "until-close" }
  /** From here on it is no longer HTTP/1. */
  | { readonly kind: "tunnel" };

export const NO_BODY: BodyFraming = Object.freeze({ kind: "none" });
export const CHUNKED: BodyFraming = Object.freeze({ kind: "chunked" });
export const UNTIL_CLOSE: BodyFraming = Object.freeze({ kind: "until-close" });
export const TUNNEL: BodyFraming = Object.freeze({ kind: "tunnel" });
