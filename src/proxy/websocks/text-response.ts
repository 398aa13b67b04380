const PLAIN_TEXT = "text/plain; charset=utf-8";

export interface TextResponseOptions {
  readonly type?: string;
  /** It answers to HEAD. */
  readonly isHeadOnly?: boolean;
}

/** A short response of our own, after which the connection is closed. */
export function renderTextResponse(
  status: string,
  text: string,
  { type = PLAIN_TEXT, isHeadOnly = false }: TextResponseOptions = {},
): Buffer {
  const body = Buffer.from(text);
  const head =
    `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n` +
    "Cache-Control: no-store\r\nConnection: close\r\n\r\n";
  return Buffer.concat([Buffer.from(head, "latin1"), ...(isHeadOnly ? [] : [body])]);
}
