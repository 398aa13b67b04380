import { CoreError } from "../core/errors.ts";
import { jsonFrame, readJsonMessage } from "../wire/manager/json-message.ts";
import { ProtoReader } from "../wire/protobuf/proto-reader.ts";
import type { GrpcCall } from "./grpc-call.ts";

/** Serves a call of one request and one answer. */
export async function serveJson(
  call: GrpcCall,
  answer: (request: unknown) => Promise<object>,
): Promise<void> {
  const request = await requestOf(call);
  await call.answer(jsonFrame(await answer(request)));
}

function requestOf(call: GrpcCall): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const messages = call.messages(() => {
      try {
        const message = messages.take();
        if (message !== undefined) {
          const { bytes, start, end } = message;
          resolve(readJsonMessage(new ProtoReader().reset(bytes, start, end)));
        } else if (messages.isOver) {
          throw new CoreError("ERR_API_PROTOCOL", "the call has no request; expected one");
        } else return;
      } catch (error) {
        reject(error);
      }
      messages.close();
    });
  });
}
