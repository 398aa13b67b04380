import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { BodyPassage } from "../../wire/http1/body-passage.ts";
import { HeadWriter } from "../../wire/http1/head-writer.ts";
import type { HttpProblem } from "../../wire/http1/http-problem.ts";
import type { RequestHead } from "../../wire/http1/request-head.ts";
import { RequestParser } from "../../wire/http1/request-parser.ts";
import type { RequestContext } from "../../wire/http1/response-head.ts";
import { writeRequest } from "../../wire/http1/write-request.ts";
import { HttpInput } from "./http-input.ts";

/** A request on its way to a server. */
export interface ForwardedRequest {
  /** Its head as the server gets it. */
  readonly head: Buffer;
  readonly context: RequestContext;
  readonly host: string;
  readonly path: string;
  readonly minorVersion: number;
  readonly isBodiless: boolean;
  /** Whether the client may send another one. */
  readonly keepsAlive: boolean;
}

export type RequestStep =
  | { readonly kind: "more" }
  | { readonly kind: "request"; readonly request: ForwardedRequest }
  | HttpProblem;

/** The requests of one client, one after the other. */
export class RequestFlow {
  readonly input: HttpInput;
  readonly body: BodyPassage = new BodyPassage();
  readonly #parser = new RequestParser();
  readonly #writer = new HeadWriter();

  constructor(net: NetEventLoop) {
    this.input = new HttpInput(net);
  }

  /** @param peer the address that the request comes from. */
  readHead(peer: string): RequestStep {
    const { bytes } = this.input;
    const outcome = this.#parser.parse(bytes, 0, bytes.length);
    if (outcome.kind !== "head") return outcome;
    const { head } = outcome;
    const request = this.#forward(head, peer);
    this.body.begin(head.body);
    this.input.drop(head.end);
    return { kind: "request", request };
  }

  /** Takes out what belongs to the body, up to its end. */
  takeBody(): Buffer | HttpProblem {
    const { bytes } = this.input;
    const end = this.body.pass(bytes, 0, bytes.length);
    if (typeof end !== "number") return end;
    this.input.drop(end);
    return bytes.subarray(0, end);
  }

  #forward(head: RequestHead, peer: string): ForwardedRequest {
    this.#writer.reset();
    writeRequest(this.#writer, head, { peer, scheme: "http", trustsPeer: false, keepAlive: true });
    return {
      head: Buffer.from(this.#writer.bytes),
      context: { method: head.method, asksUpgrade: head.upgrade !== "" },
      host: head.host,
      path: head.path,
      minorVersion: head.line.minorVersion,
      isBodiless: head.body.kind === "none",
      keepsAlive: head.keepsAlive,
    };
  }
}
