import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answer, STATUS } from "./answer.ts";

/** Of every answer: no page of another site has anything of it. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

export function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): void {
  const { status, headers, body } = answer;
  const hasLength = status !== STATUS.noContent && status !== STATUS.notModified;
  response.writeHead(status, {
    ...COMMON_HEADERS,
    ...headers,
    ...(hasLength ? { "content-length": Buffer.byteLength(body ?? "") } : {}),
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
