import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { HttpProblem } from "../../wire/http1/http-problem.ts";
import type { RequestHead } from "../../wire/http1/request-head.ts";
import { RequestParser } from "../../wire/http1/request-parser.ts";
import type { RequestContext } from "../../wire/http1/response-head.ts";
import { writeRequest } from "../../wire/http1/write-request.ts";
import type { ForwardedTrust } from "./forwarded-trust.ts";
import { MessageFlow } from "./message-flow.ts";

/** A request on its way to a server. */
export interface ForwardedRequest {
  /** Its head as the server gets it. */
  readonly head: Buffer;
  /** Canonical address of the client: the peer's, or what trusted hops say. */
  readonly client: string;
  readonly context: RequestContext;
  /** What may lead it to a group; empty where that makes no difference. */
  readonly host: string;
  readonly path: string;
  readonly minorVersion: number;
  readonly isBodiless: boolean;
  /** Whether the client may send another one. */
  readonly keepsAlive: boolean;
}

/** What a listener has to say about requests; `HttpService` has it. */
export interface RequestRules {
  readonly trust: ForwardedTrust;
  readonly readsHints: boolean;
}

export type RequestStep =
  | { readonly kind: "more" }
  | { readonly kind: "request"; readonly request: ForwardedRequest }
  | HttpProblem;

/** The requests of one client, one after the other. */
export class RequestFlow extends MessageFlow {
  readonly #parser = new RequestParser();
  readonly #scheme: "http" | "https";

  /** @param scheme what its clients speak */
  constructor(net: NetEventLoop, scheme: "http" | "https") {
    super(net);
    this.#scheme = scheme;
  }

  /** @param peer the address that the request comes from. */
  readHead(peer: string, rules: RequestRules): RequestStep {
    const { bytes } = this.input;
    const outcome = this.#parser.parse(bytes, 0, bytes.length);
    if (outcome.kind !== "head") return outcome;
    const { head } = outcome;
    const request = this.#forward(head, peer, rules);
    this.body.begin(head.body);
    this.input.drop(head.end);
    return { kind: "request", request };
  }

  #forward(head: RequestHead, peer: string, rules: RequestRules): ForwardedRequest {
    const { trust, readsHints } = rules;
    this.writer.reset();
    const trustsPeer = trust.trusts(peer);
    writeRequest(this.writer, head, { peer, scheme: this.#scheme, trustsPeer, keepAlive: true });
    return {
      head: this.writer.copied(),
      client: trust.clientOf(peer, () => head.fields.values("x-forwarded-for")),
      context: { method: head.method, asksUpgrade: head.upgrade !== "" },
      host: readsHints ? head.host : "",
      path: readsHints ? head.path : "",
      minorVersion: head.line.minorVersion,
      isBodiless: head.body.kind === "none",
      keepsAlive: head.keepsAlive,
    };
  }
}
