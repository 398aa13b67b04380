import type { HeaderBlockWriter } from "../../wire/http2/hpack/header-block-writer.ts";
import { headerField } from "../../wire/http2/hpack/static-table.ts";
import type { Http2Stream } from "../../wire/http2/http2-stream.ts";
import { CODE } from "../../wire/http2/protocol.ts";
import { writeResponseHead } from "../../wire/http2/write-head.ts";

const NO_BODY = [headerField("content-length", "0")];

/** Answers a request in place of a server; what the client still sends of it is not wanted. */
export function answerStream(stream: Http2Stream, status: number, block: HeaderBlockWriter): void {
  writeResponseHead(block, status, NO_BODY);
  stream.sendFields(block.bytes, true);
  stream.reset(CODE.NO_ERROR);
}
