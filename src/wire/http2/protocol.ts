/** The numbers of HTTP/2 (RFC 9113 sections 6 and 7). */

export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const FLAG = {
  END_STREAM: 0x1,
  /** Of SETTINGS and PING. */
  ACK: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const;

export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const;

/** Why a stream or a connection ended. */
export const CODE = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
  HTTP_1_1_REQUIRED: 13,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(CODE).map(([name, code]) => [code, name]),
);

export function codeName(code: number): string {
  return NAMES.get(code) ?? `error code ${code}`;
}

/** What a client says first. */
export const PREFACE: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

export const FRAME_HEADER_BYTES = 9;
export const SETTING_BYTES = 6;
export const PING_BYTES = 8;
/** What every side must take, and the most that is sent or taken here. */
export const MAX_FRAME_BYTES = 16_384;
export const LARGEST_FRAME_BYTES = 16_777_215;
export const MAX_WINDOW = 0x7fffffff;
export const MAX_STREAM_ID = 0x7fffffff;
export const DEFAULT_WINDOW = 65_535;
export const DEFAULT_TABLE_BYTES = 4096;
