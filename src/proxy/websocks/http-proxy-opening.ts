import { canonicalIp, parseHostPort } from "../../core/model/address.ts";
import { BodyPassage } from "../../wire/http1/body-passage.ts";
import { renderPlainResponse } from "../../wire/http1/plain-response.ts";
import { renderProxiedRequest } from "../../wire/http1/proxied-request.ts";
import type { RequestHead } from "../../wire/http1/request-head.ts";
import { RequestParser } from "../../wire/http1/request-parser.ts";
import type { Socks5Address } from "../../wire/socks5/socks5-words.ts";
import {
  HANDSHAKE_PATIENCE_MS,
  MORE,
  type Opening,
  type OpeningStep,
} from "../openings/opening.ts";
import { renderTextResponse } from "./text-response.ts";

const PAC_PATHS: ReadonlySet<string> = new Set(["/proxy.pac", "/wpad.dat"]);
const PAC_TYPE = "application/x-ns-proxy-autoconfig";
const HTTP_PORT = 80;
const BAD_REQUEST = 400;
const TIMEOUT = 408;
const NO_BYTES = Buffer.alloc(0);
const HELP =
  "This is a proxy, not a site. Set it as the HTTP or SOCKS5 proxy of your program, or use /proxy.pac.\n";

/** A client of a forward proxy: `CONNECT host:port`, or a request with the host in its target. */
export class HttpProxyOpening implements Opening {
  readonly patienceMs: number = HANDSHAKE_PATIENCE_MS;
  readonly #parser = new RequestParser();
  readonly #renderPac: () => string;
  #bytes: Buffer = NO_BYTES;

  /** @param renderPac the script by which browsers find this proxy */
  constructor(renderPac: () => string) {
    this.#renderPac = renderPac;
  }

  feed(chunk: Buffer): OpeningStep {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const outcome = this.#parser.parse(this.#bytes, 0, this.#bytes.length);
    switch (outcome.kind) {
      case "more":
        return MORE;
      case "malformed":
        return farewell(renderPlainResponse(outcome.status), outcome.reason);
      case "head":
        return this.#read(outcome.head);
    }
  }

  giveUp(): OpeningStep {
    const reason = "the request did not come, or not all of it";
    return { kind: "refused", reason, say: renderPlainResponse(TIMEOUT) };
  }

  #read(head: RequestHead): OpeningStep {
    const after = this.#bytes.subarray(head.end);
    switch (head.line.form) {
      case "authority": {
        const wanted = targetOf(head.host);
        if (wanted === undefined) return badTarget();
        return done(wanted, "connect", after);
      }
      case "absolute": {
        const isPlain = /^http:/i.test(textOfTarget(head));
        const wanted = isPlain ? targetOf(head.host, HTTP_PORT) : undefined;
        if (wanted === undefined) return badTarget();
        return this.#pass(head, wanted, after);
      }
      case "origin":
        return this.#answer(head);
      case "asterisk":
        return badTarget();
    }
  }

  /** As a site. */
  #answer({ path, method }: RequestHead): OpeningStep {
    const isHeadOnly = method === "HEAD";
    if (PAC_PATHS.has(path)) {
      const script = this.#renderPac();
      return farewell(renderTextResponse("200 OK", script, { type: PAC_TYPE, isHeadOnly }));
    }
    const response = renderTextResponse("404 Not Found", HELP, { isHeadOnly });
    return farewell(response, "it asked the proxy for a page");
  }

  /** The next request may be for another server, and none of the business of this one, whatever that says. */
  #pass(head: RequestHead, wanted: Socks5Address, after: Buffer): OpeningStep {
    const passage = new BodyPassage();
    passage.begin(head.body);
    const end = passage.pass(after, 0, after.length);
    if (typeof end !== "number") return farewell(renderPlainResponse(end.status), end.reason);
    if (end < after.length) {
      const reason = "another request came before the first was answered";
      return farewell(renderPlainResponse(BAD_REQUEST), reason);
    }
    const step = done(wanted, "http", Buffer.concat([renderProxiedRequest(head), after]));
    return { ...step, introduction: { ...step.introduction, passage } };
  }
}

function textOfTarget({ line, fields }: RequestHead): string {
  return fields.bytes.toString("latin1", line.targetStart, line.targetEnd);
}

/** Undefined where it is no host with a port. */
function targetOf(text: string, defaultPort?: number): Socks5Address | undefined {
  const place =
    parseHostPort(text) ??
    (defaultPort === undefined ? undefined : parseHostPort(`${text}:${defaultPort}`));
  if (place === undefined) return undefined;
  const ip = canonicalIp(place.host);
  const host = ip ?? place.host.toLowerCase().replace(/\.$/, "");
  return { host, isName: ip === undefined, port: place.port };
}

function done(
  wanted: Socks5Address,
  asked: "connect" | "http",
  rest: Buffer,
): Extract<OpeningStep, { kind: "done" }> {
  return { kind: "done", introduction: { wanted, command: "connect", asked }, rest };
}

function badTarget(): OpeningStep {
  const reason = "the target is not http://HOST[:PORT]/..., or CONNECT HOST:PORT";
  return farewell(renderPlainResponse(BAD_REQUEST), reason);
}

function farewell(say: Buffer, reason?: string): OpeningStep {
  return { kind: "farewell", say, afterMs: 0, ...(reason !== undefined && { reason }) };
}
