import { CODE, FLAG, FRAME, PING_BYTES, SETTING_BYTES } from "./protocol.ts";

const PRIORITY_BYTES = 5;
const WORD_BYTES = 4;
const GOAWAY_BYTES = 8;

/**
 * Whether a frame of that size may be on that stream, or on the connection (0), at all: 0, or the error
 * code with which the connection ends (RFC 9113 section 6).
 */
export function checkFrame(type: number, flags: number, streamId: number, length: number): number {
  switch (type) {
    case FRAME.DATA:
    case FRAME.HEADERS:
    case FRAME.CONTINUATION:
      return onStream(streamId);
    case FRAME.PRIORITY:
      return onStream(streamId) || ofSize(length === PRIORITY_BYTES);
    case FRAME.RST_STREAM:
      return onStream(streamId) || ofSize(length === WORD_BYTES);
    case FRAME.WINDOW_UPDATE:
      return ofSize(length === WORD_BYTES);
    case FRAME.SETTINGS: {
      const isAck = (flags & FLAG.ACK) !== 0;
      return onConnection(streamId) || ofSize(isAck ? length === 0 : length % SETTING_BYTES === 0);
    }
    case FRAME.PING:
      return onConnection(streamId) || ofSize(length === PING_BYTES);
    case FRAME.GOAWAY:
      return onConnection(streamId) || ofSize(length >= GOAWAY_BYTES);
    case FRAME.PUSH_PROMISE:
      // Clients never may; servers were told not to.
      return CODE.PROTOCOL_ERROR;
    default:
      return CODE.NO_ERROR;
  }
}

function onStream(streamId: number): number {
  return streamId === 0 ? CODE.PROTOCOL_ERROR : CODE.NO_ERROR;
}

function onConnection(streamId: number): number {
  return streamId === 0 ? CODE.NO_ERROR : CODE.PROTOCOL_ERROR;
}

function ofSize(isRight: boolean): number {
  return isRight ? CODE.NO_ERROR : CODE.FRAME_SIZE_ERROR;
}
