import type { IncomingMessage } from "node:http";
import { messageOf } from "../../core/errors.ts";
import { problemsError } from "../../core/model/problems.ts";
import { duplicateKeyProblem } from "../grammar/duplicate-key.ts";
import { STATUS } from "./answer.ts";
import { HttpRefusal } from "./refusal.ts";

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * Reads a body as JSON; nothing else is taken, so that no form of a strange page can send one.
 * @param sendContinue lets a client go on that waits for a word before it sends the body
 * @throws HttpRefusal 400, 413, 415
 * @throws CoreError ERR_USAGE for a key that stands twice in an object
 */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes: number,
  sendContinue: () => void,
): Promise<unknown> {
  const type = request.headers["content-type"];
  if (type === undefined || !JSON_TYPE.test(type)) {
    const said = type === undefined ? "missing" : JSON.stringify(type);
    const message = `content-type: ${said} is not valid; expected application/json`;
    throw new HttpRefusal(STATUS.unsupportedType, "ERR_USAGE", message, {
      accept: "application/json",
    });
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  sendContinue();
  const text = await readText(request, maxBytes);
  const body = parseBody(text);
  const twice = duplicateKeyProblem(text, []);
  if (twice !== undefined) throw problemsError("ERR_USAGE", [twice]);
  return body;
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error);
    throw malformed(`the body is not valid JSON (${reason})`);
  }
}

/** By events: leaving a loop over a request early would end its connection before it is answered. */
function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else reject(tooLarge(maxBytes));
    });
    request.on("end", () => {
      const text = decode(Buffer.concat(chunks));
      if (text === undefined) reject(malformed("the body is not valid UTF-8"));
      else resolve(text);
    });
    const endEarly = (): void => reject(malformed("the body ended early"));
    request.on("error", endEarly);
    request.on("close", endEarly);
  });
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function malformed(message: string): HttpRefusal {
  return new HttpRefusal(STATUS.badRequest, "ERR_USAGE", `${message}; expected a JSON object`);
}

function tooLarge(maxBytes: number): HttpRefusal {
  const message = `the body is too large; expected at most ${maxBytes} bytes`;
  return new HttpRefusal(STATUS.tooLarge, "ERR_USAGE", message);
}
