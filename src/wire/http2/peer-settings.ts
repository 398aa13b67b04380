import {
  CODE,
  DEFAULT_WINDOW,
  LARGEST_FRAME_BYTES,
  MAX_FRAME_BYTES,
  MAX_WINDOW,
  SETTING,
  SETTING_BYTES,
} from "./protocol.ts";

/** What the other side has said about itself. What is not in it does not matter to how we send. */
export class PeerSettings {
  maxConcurrentStreams: number = Number.POSITIVE_INFINITY;
  initialWindowBytes: number = DEFAULT_WINDOW;
  readonly #isServer: boolean;

  /** @param isServer whether the other side is one: it may not allow to be pushed to. */
  constructor(isServer: boolean) {
    this.#isServer = isServer;
  }

  /** The payload of a SETTINGS frame: 0, or the error code with which the connection ends. */
  read(bytes: Buffer, start: number, end: number): number {
    for (let at = start; at < end; at += SETTING_BYTES) {
      const code = this.#set(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2));
      if (code !== CODE.NO_ERROR) return code;
    }
    return CODE.NO_ERROR;
  }

  #set(id: number, value: number): number {
    switch (id) {
      case SETTING.ENABLE_PUSH:
        return value > (this.#isServer ? 0 : 1) ? CODE.PROTOCOL_ERROR : CODE.NO_ERROR;
      case SETTING.MAX_CONCURRENT_STREAMS:
        this.maxConcurrentStreams = value;
        return CODE.NO_ERROR;
      case SETTING.INITIAL_WINDOW_SIZE:
        if (value > MAX_WINDOW) return CODE.FLOW_CONTROL_ERROR;
        this.initialWindowBytes = value;
        return CODE.NO_ERROR;
      case SETTING.MAX_FRAME_SIZE: {
        const isAllowed = value >= MAX_FRAME_BYTES && value <= LARGEST_FRAME_BYTES;
        return isAllowed ? CODE.NO_ERROR : CODE.PROTOCOL_ERROR;
      }
      default:
        return CODE.NO_ERROR;
    }
  }
}
