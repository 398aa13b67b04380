import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { BodyPassage } from "../../wire/http1/body-passage.ts";
import { HeadWriter } from "../../wire/http1/head-writer.ts";
import type { HttpProblem } from "../../wire/http1/http-problem.ts";
import { HttpInput } from "./http-input.ts";

/** The messages of one side of a connection: heads are written anew, bodies pass as they are. */
export class MessageFlow {
  readonly input: HttpInput;
  readonly body: BodyPassage = new BodyPassage();
  protected readonly writer: HeadWriter = new HeadWriter();

  constructor(net: NetEventLoop) {
    this.input = new HttpInput(net);
  }

  /** Takes out what belongs to the body, up to its end. */
  takeBody(): Buffer | HttpProblem {
    const { bytes } = this.input;
    const end = this.body.pass(bytes, 0, bytes.length);
    if (typeof end !== "number") return end;
    this.input.drop(end);
    return bytes.subarray(0, end);
  }
}
