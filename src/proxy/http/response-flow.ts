import { NO_BODY } from "../../wire/http1/body-framing.ts";
import type { HttpProblem } from "../../wire/http1/http-problem.ts";
import type { RequestContext } from "../../wire/http1/response-head.ts";
import { ResponseParser } from "../../wire/http1/response-parser.ts";
import { writeResponse } from "../../wire/http1/write-response.ts";
import { MessageFlow } from "./message-flow.ts";

/** A response on its way to the client. */
export interface ForwardedResponse {
  /** Its head as the client gets it. */
  readonly head: Buffer;
  /** Another response to the same request follows. */
  readonly isInterim: boolean;
  /** From here on it is no longer HTTP. */
  readonly isTunnel: boolean;
  /** Whether the server can be sent another request. */
  readonly keepsAlive: boolean;
  /** Its body ends with the connection. */
  readonly endsWithConnection: boolean;
}

export type ResponseStep =
  | { readonly kind: "more" }
  | { readonly kind: "response"; readonly response: ForwardedResponse }
  | HttpProblem;

/** The responses of one server to one request after the other. */
export class ResponseFlow extends MessageFlow {
  readonly #parser = new ResponseParser();

  /** Another exchange begins: what is left of the one before is forgotten. */
  begin(): void {
    this.#parser.reset();
    this.input.reset();
    this.body.begin(NO_BODY);
  }

  /** @param keepAlive whether the client may send another request. */
  readHead(
    context: RequestContext,
    client: { readonly keepAlive: boolean; readonly minorVersion: number },
  ): ResponseStep {
    const { bytes } = this.input;
    const outcome = this.#parser.parse(bytes, 0, bytes.length, context);
    if (outcome.kind !== "head") return outcome;
    const { head } = outcome;
    this.writer.reset();
    writeResponse(this.writer, head, {
      keepAlive: client.keepAlive,
      clientMinorVersion: client.minorVersion,
    });
    this.body.begin(head.body);
    const { isInterim, keepsAlive, body, end } = head;
    const response = {
      head: this.writer.copied(),
      isInterim,
      keepsAlive,
      isTunnel: body.kind === "tunnel",
      endsWithConnection: body.kind === "until-close",
    };
    this.input.drop(end);
    return { kind: "response", response };
  }
}
