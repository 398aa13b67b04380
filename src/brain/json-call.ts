import { CoreError } from "../core/errors.ts";
import { jsonFrame, readJsonMessage } from "../wire/manager/json-message.ts";
import { ProtoReader } from "../wire/protobuf/proto-reader.ts";
import type { GrpcCall } from "./grpc-call.ts";

/** Serves a call of one request and one answer. */
export async function serveJson(
  call: GrpcCall,
  answer: (request: unknown) => Promise<object>,
): Promise<void> {
  for await (const { bytes, start, end } of call.messages()) {
    const request = readJsonMessage(new ProtoReader().reset(bytes, start, end));
    await call.answer(jsonFrame(await answer(request)));
    return;
  }
  throw new CoreError("ERR_API_PROTOCOL", "the call has no request; expected one");
}
