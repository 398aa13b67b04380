import { STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { STATUS } from "./answer.ts";
import { HttpRefusal } from "./refusal.ts";

/**
 * Answers what is no HTTP, or came too slowly, and ends the connection; without a word where one
 * would stand in place of an answer, or in the middle of it.
 * @param isAwaited whether an answer to a whole request is still to come
 */
export function refuseUnreadable(
  error: Error & { readonly code?: string },
  socket: Duplex,
  isAwaited: boolean,
): void {
  const hasAnswered = socket instanceof Socket && socket.bytesWritten > 0;
  if (!socket.writable || isAwaited || hasAnswered || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, headers, body = "" } = refusalFor(error.code).answer;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function refusalFor(code: string | undefined): HttpRefusal {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new HttpRefusal(STATUS.requestTimeout, "ERR_USAGE", "the request took too long");
    case "HPE_HEADER_OVERFLOW":
      return new HttpRefusal(
        STATUS.headersTooLarge,
        "ERR_USAGE",
        "the head of the request is too large",
      );
    default:
      return new HttpRefusal(STATUS.badRequest, "ERR_USAGE", "this is not valid HTTP");
  }
}
