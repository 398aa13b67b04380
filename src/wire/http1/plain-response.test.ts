import { STATUS_CODES } from "node:http";
import { expect, test } from "vitest";
import { renderPlainResponse } from "./plain-response.ts";

/** Node names it as it was before RFC 9110. */
const NEWER = new Map([[413, "Content Too Large"]]);

test.each([400, 401, 403, 405, 408, 413, 414, 417, 431, 500, 501, 502, 503, 504, 505])(
  "%d has its name",
  (status) => {
    const [line] = renderPlainResponse(status).toString("latin1").split("\r\n");
    expect(line).toBe(`HTTP/1.1 ${status} ${NEWER.get(status) ?? STATUS_CODES[status]}`);
  },
);
