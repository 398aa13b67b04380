/**
 * Many streams in one: the frames of a tunnel have the header of HTTP/2 (length, type, flags, stream). The first frame
 * of each end is SETTINGS, with the first window of streams (it may be empty: then that is what it always was). HEADERS
 * opens a stream and answers that; with END it resets one.
 * DATA with END is the last of its direction. WINDOW_UPDATE lets the other end send more of a stream. Streams have odd
 * numbers, which the client gives.
 */
import { FRAME, FRAME_HEADER_BYTES } from "../../wire/http2/protocol.ts";

export const END = 1;
/** What may be sent of a stream before a word about that came, where an end says nothing of it. */
export const FIRST_WINDOW_BYTES = 262_144;
/** The same where both ends say it: all streams that a tunnel may have can hold so much. */
export const LEAST_WINDOW_BYTES = 16_384;
/** What each end asks its pool for as soon as a stream is open: a path of 40 Mbit/s and 200 ms. */
export const OPEN_WINDOW_BYTES = 1_048_576;
/** The most that a stream whose reader keeps up may be ahead of it. */
export const MAX_WINDOW_BYTES = 4_194_304;
/** So that no stream makes the others wait. */
export const MAX_DATA_BYTES = 8_192;
/** Their numbers have 31 bits. */
export const MAX_STREAM_ID: number = 2 ** 31 - 1;

export function frameHeader(
  type: number,
  flags: number,
  streamId: number,
  byteCount: number,
): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header.writeUIntBE(byteCount, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return header;
}

export function windowUpdate(streamId: number, byteCount: number): Buffer {
  const word = Buffer.allocUnsafe(4);
  word.writeUInt32BE(byteCount);
  return Buffer.concat([frameHeader(FRAME.WINDOW_UPDATE, 0, streamId, word.length), word]);
}

/** As in HTTP/2 (RFC 9113, 6.5.2). */
const INITIAL_WINDOW_SIZE = 4;
const SETTING_BYTES = 6;

export function settings(firstWindowBytes: number): Buffer {
  const setting = Buffer.allocUnsafe(SETTING_BYTES);
  setting.writeUInt16BE(INITIAL_WINDOW_SIZE);
  setting.writeUInt32BE(firstWindowBytes, 2);
  return Buffer.concat([frameHeader(FRAME.SETTINGS, 0, 0, setting.length), setting]);
}

/** Undefined where the settings say nothing of it. */
export function firstWindowOf(settingBytes: Buffer): number | undefined {
  for (let at = 0; at + SETTING_BYTES <= settingBytes.length; at += SETTING_BYTES) {
    if (settingBytes.readUInt16BE(at) === INITIAL_WINDOW_SIZE)
      return settingBytes.readUInt32BE(at + 2);
  }
  return undefined;
}

export function goAway(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([frameHeader(FRAME.GOAWAY, 0, 0, bytes.length), bytes]);
}
