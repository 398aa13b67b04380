import type { Http2ConnectionOptions } from "./connection-options.ts";
import { DataReceiver } from "./data-receiver.ts";
import { FloodGuard } from "./flood-guard.ts";
import { type FrameHandler, FrameReader } from "./frame-reader.ts";
import { checkFrame } from "./frame-rules.ts";
import { FrameWriter } from "./frame-writer.ts";
import { dependencyOf, HeaderBlock } from "./header-block.ts";
import { FieldList } from "./hpack/field-list.ts";
import { HpackDecoder } from "./hpack/hpack-decoder.ts";
import { Http2Stream, type StreamHost, type StreamOwner } from "./http2-stream.ts";
import { PeerSettings } from "./peer-settings.ts";
import { PrefaceReader } from "./preface-reader.ts";
import {
  CODE,
  DEFAULT_TABLE_BYTES,
  FLAG,
  FRAME,
  MAX_STREAM_ID,
  PING_BYTES,
  PREFACE,
  SETTING,
} from "./protocol.ts";
import { ReceiveCredit } from "./receive-credit.ts";
import { SendQueue } from "./send-queue.ts";
import { StreamTable } from "./stream-table.ts";

const PING_PAYLOAD = Buffer.alloc(PING_BYTES, "portolan");

/**
 * One side of an HTTP/2 connection, without I/O: bytes that came go into `receive`, what is to be sent is
 * written to the sink. Whoever empties the sink calls `pump` then.
 */
export class Http2Connection implements FrameHandler, StreamHost {
  readonly #options: Http2ConnectionOptions;
  readonly #reader: FrameReader = new FrameReader(this);
  readonly #writer: FrameWriter;
  readonly #decoder = new HpackDecoder(DEFAULT_TABLE_BYTES);
  readonly #block: HeaderBlock;
  readonly #streams: StreamTable;
  readonly #peer: PeerSettings;
  readonly #guard: FloodGuard;
  readonly #sending: SendQueue;
  readonly #credit: ReceiveCredit;
  readonly #data: DataReceiver;
  readonly #preface: PrefaceReader;
  #hasSettings = false;
  /** Streams above it were never looked at, and the peer knows. */
  #lastAccepted: number = MAX_STREAM_ID;
  #isPeerLeaving = false;
  #isClosed = false;
  /** It has sent too much that is malformed. */
  #isCutOff = false;

  constructor(options: Http2ConnectionOptions) {
    this.#options = options;
    const { config, role, sink, handler, nowMs } = options;
    const isServer = role === "server";
    this.#writer = new FrameWriter(sink);
    this.#block = new HeaderBlock(config.maxBlockBytes, config.maxBlockFrames);
    this.#peer = new PeerSettings(!isServer);
    this.#guard = new FloodGuard(config.floods, nowMs);
    this.#sending = new SendQueue(this.#writer, (stream) => this.#localEnded(stream));
    this.#credit = new ReceiveCredit(this.#writer, config);
    this.#streams = new StreamTable((stream) => {
      this.#credit.skipped(stream.unconsumed);
      handler.streamClosed();
    });
    this.#data = new DataReceiver(this.#streams, this.#credit, {
      unknownStream: (streamId) => this.#unknownStream(streamId),
      streamError: (stream, code) => this.#streamError(stream, code),
      moved: () => this.#guard.noteUse(),
      idleFrame: () => this.#idleFrame(),
      received: (stream) => this.#streams.endWhenDone(stream),
    });
    this.#preface = new PrefaceReader(isServer);
  }

  /** Says what this side expects. */
  start(): void {
    const { config, role } = this.#options;
    const isServer = role === "server";
    if (!isServer) this.#writer.raw(PREFACE);
    this.#writer.settings([
      isServer
        ? [SETTING.MAX_CONCURRENT_STREAMS, config.maxConcurrentStreams]
        : [SETTING.ENABLE_PUSH, 0],
      [SETTING.INITIAL_WINDOW_SIZE, config.streamWindowBytes],
      [SETTING.MAX_HEADER_LIST_SIZE, config.fields.maxListBytes],
    ]);
    this.#credit.begin();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get streamCount(): number {
    return this.#streams.count;
  }

  /** Whether the peer has said what it expects. */
  get hasSettings(): boolean {
    return this.#hasSettings;
  }

  /** How many more streams can be opened to the peer now. */
  get capacity(): number {
    const isUsedUp = this.#streams.lastId >= MAX_STREAM_ID - 1;
    if (this.#isClosed || this.#isPeerLeaving || isUsedUp) return 0;
    return this.#peer.maxConcurrentStreams - this.#streams.count;
  }

  /**
   * Takes what came: 0, or the error code with which the connection has ended; then all that is left is to
   * send what is in the sink.
   */
  receive(bytes: Buffer, start: number, end: number): number {
    if (this.#isClosed) return CODE.NO_ERROR;
    const at = this.#preface.read(bytes, start, end);
    const read = at < 0 ? CODE.PROTOCOL_ERROR : this.#reader.read(bytes, at, end);
    const code = this.#isCutOff ? CODE.ENHANCE_YOUR_CALM : read;
    if (code !== CODE.NO_ERROR) this.close(code);
    else this.pump();
    return code;
  }

  /** Sends of what waits, as far as windows and the sink allow. */
  pump(): void {
    if (!this.#isClosed) this.#sending.pump();
  }

  /** Opens a stream to a server. There must be `capacity`. */
  open(owner: StreamOwner): Http2Stream {
    this.#streams.lastId += this.#streams.lastId === 0 ? 1 : 2;
    const stream = this.#addStream(this.#streams.lastId);
    stream.owner = owner;
    return stream;
  }

  ping(): void {
    if (!this.#isClosed) this.#writer.ping(PING_PAYLOAD, 0, 0);
  }

  /** Says that no more streams are wanted; those that are on their way are still taken. */
  announceLeave(): void {
    if (!this.#isClosed) this.#writer.goAway(MAX_STREAM_ID, CODE.NO_ERROR);
  }

  /** From now on streams that are new are not looked at; the peer knows that it can repeat them. */
  leave(): void {
    if (this.#isClosed || this.#lastAccepted !== MAX_STREAM_ID) return;
    this.#lastAccepted = this.#lastIdOfPeer;
    this.#writer.goAway(this.#lastAccepted, CODE.NO_ERROR);
  }

  /** Ends at once: the peer is told why, and the owners of all streams. */
  close(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#writer.goAway(this.#lastIdOfPeer, code);
    this.#streams.endAll(code);
  }

  /** The peer is gone: only the owners are told. */
  lost(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#streams.endAll(this.#options.role === "server" ? CODE.CANCEL : CODE.INTERNAL_ERROR);
  }

  frameBegins(type: number, flags: number, streamId: number, length: number): number {
    const isGoingOn = type === FRAME.CONTINUATION;
    const belongs = this.#block.isOpen
      ? isGoingOn && streamId === this.#block.streamId
      : !isGoingOn;
    if (!belongs) return CODE.PROTOCOL_ERROR;
    if (!this.#hasSettings && (type !== FRAME.SETTINGS || (flags & FLAG.ACK) !== 0)) {
      return CODE.PROTOCOL_ERROR;
    }
    const code = checkFrame(type, flags, streamId, length);
    if (code !== CODE.NO_ERROR || type !== FRAME.DATA) return code;
    return this.#data.begin(flags, streamId, length);
  }

  frame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): number {
    switch (type) {
      case FRAME.HEADERS:
        return this.#block.begin(flags, streamId, bytes, start, end) || this.#readBlock();
      case FRAME.CONTINUATION:
        return this.#block.goOn(flags, bytes, start, end) || this.#readBlock();
      case FRAME.RST_STREAM:
        return this.#readReset(streamId, bytes.readUInt32BE(start));
      case FRAME.SETTINGS:
        return this.#readSettings(flags, bytes, start, end);
      case FRAME.PING:
        return this.#readPing(flags, bytes, start);
      case FRAME.GOAWAY:
        return this.#readGoAway(bytes.readUInt32BE(start) & MAX_STREAM_ID, bytes, start);
      case FRAME.WINDOW_UPDATE:
        return this.#readWindowUpdate(streamId, bytes.readUInt32BE(start) & MAX_STREAM_ID);
      case FRAME.PRIORITY:
        if (dependencyOf(bytes, start) === streamId) return CODE.PROTOCOL_ERROR;
        return this.#idleFrame();
      default:
        return this.#idleFrame();
    }
  }

  data(bytes: Buffer, start: number, end: number, isLast: boolean): number {
    return this.#data.part(bytes, start, end, isLast);
  }

  writeFields(stream: Http2Stream, block: Buffer, isEnd: boolean): void {
    this.#writer.headers(stream.id, block, isEnd);
    if (isEnd) this.#localEnded(stream);
  }

  writeData(
    stream: Http2Stream,
    bytes: Buffer,
    start: number,
    end: number,
    isEnd: boolean,
  ): number {
    return this.#sending.write(stream, bytes, start, end, isEnd);
  }

  noteKept(stream: Http2Stream): void {
    this.#sending.add(stream);
  }

  consumed(stream: Http2Stream, byteCount: number): void {
    this.#credit.consumed(stream, byteCount);
  }

  reset(stream: Http2Stream, code: number): void {
    this.#writer.resetStream(stream.id, code);
    this.#streams.noteReset(stream.id);
    this.#streams.drop(stream);
  }

  reject(stream: Http2Stream): void {
    this.reset(stream, CODE.PROTOCOL_ERROR);
    if (!this.#guard.allowsReset()) this.#isCutOff = true;
  }

  /** The highest stream of the peer that was looked at; servers open none. */
  get #lastIdOfPeer(): number {
    return this.#options.role === "server" ? this.#streams.lastId : 0;
  }

  #readBlock(): number {
    const block = this.#block;
    if (block.isOpen) return CODE.NO_ERROR;
    const fields = new FieldList(this.#options.config.fields);
    if (!this.#decoder.decode(block.bytes, block.start, block.end, fields)) {
      return CODE.COMPRESSION_ERROR;
    }
    const stream = this.#streams.get(block.streamId);
    if (stream !== undefined) return this.#readFields(stream, fields);
    if (!this.#streams.isIdle(block.streamId)) {
      return this.#isLate(block.streamId) ? CODE.NO_ERROR : CODE.STREAM_CLOSED;
    }
    return this.#openedByPeer(block.streamId, fields);
  }

  #readFields(stream: Http2Stream, fields: FieldList): number {
    if (stream.isRemoteEnded) return this.#streamError(stream, CODE.STREAM_CLOSED);
    const isEnd = this.#block.isEndOfStream;
    if (this.#block.dependsOnItself || (isEnd && !stream.isAsAnnounced)) {
      return this.#streamError(stream, CODE.PROTOCOL_ERROR);
    }
    if (isEnd) stream.isRemoteEnded = true;
    stream.owner.fieldsArrived(fields, isEnd);
    this.#streams.endWhenDone(stream);
    return CODE.NO_ERROR;
  }

  /** Data on a stream that was closed. */
  #unknownStream(streamId: number): number {
    if (this.#isLate(streamId)) return CODE.NO_ERROR;
    return this.#refuse(streamId, CODE.STREAM_CLOSED);
  }

  /** What was on its way when a stream was reset from here, or refused, is no error. */
  #isLate(streamId: number): boolean {
    if (this.#options.role === "client" || streamId > this.#lastAccepted) return true;
    return this.#streams.wasResetHere(streamId);
  }

  #openedByPeer(streamId: number, fields: FieldList): number {
    const { role, config, handler } = this.#options;
    if (role === "client" || streamId % 2 === 0) return CODE.PROTOCOL_ERROR;
    this.#streams.lastId = streamId;
    if (streamId > this.#lastAccepted) return CODE.NO_ERROR;
    if (this.#streams.count >= config.maxConcurrentStreams) {
      return this.#refuse(streamId, CODE.REFUSED_STREAM);
    }
    if (this.#block.dependsOnItself) return this.#refuse(streamId, CODE.PROTOCOL_ERROR);
    this.#guard.noteUse();
    const stream = this.#addStream(streamId);
    stream.isRemoteEnded = this.#block.isEndOfStream;
    handler.streamOpened(stream, fields, this.#block.isEndOfStream);
    return CODE.NO_ERROR;
  }

  #addStream(id: number): Http2Stream {
    const send = this.#peer.initialWindowBytes;
    const stream = new Http2Stream(this, id, {
      send,
      receive: this.#options.config.streamWindowBytes,
    });
    this.#streams.add(stream);
    return stream;
  }

  /** Resets what a peer has done wrong; a peer may not have that done without end. */
  #refuse(streamId: number, code: number): number {
    this.#writer.resetStream(streamId, code);
    this.#streams.noteReset(streamId);
    return this.#guard.allowsReset() ? CODE.NO_ERROR : CODE.ENHANCE_YOUR_CALM;
  }

  #readReset(streamId: number, code: number): number {
    if (this.#streams.isIdle(streamId)) return CODE.PROTOCOL_ERROR;
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return this.#idleFrame();
    // A stream that was answered in full was no waste.
    const isHarmless = this.#options.role === "client" || stream.isLocalEnded;
    this.#streams.end(stream, code);
    return isHarmless || this.#guard.allowsReset() ? CODE.NO_ERROR : CODE.ENHANCE_YOUR_CALM;
  }

  #readSettings(flags: number, bytes: Buffer, start: number, end: number): number {
    const isFirst = !this.#hasSettings;
    this.#hasSettings = true;
    if ((flags & FLAG.ACK) !== 0) return this.#idleFrame();
    const before = this.#peer.initialWindowBytes;
    const code =
      this.#peer.read(bytes, start, end) ||
      this.#sending.changeWindows(this.#streams.all(), this.#peer.initialWindowBytes - before);
    if (code !== CODE.NO_ERROR) return code;
    this.#writer.settingsAck();
    this.#options.handler.settingsArrived();
    return isFirst ? CODE.NO_ERROR : this.#idleFrame();
  }

  #readPing(flags: number, bytes: Buffer, start: number): number {
    if ((flags & FLAG.ACK) !== 0) this.#options.handler.pingAnswered();
    else this.#writer.ping(bytes, start, FLAG.ACK);
    return this.#idleFrame();
  }

  #readGoAway(lastId: number, bytes: Buffer, start: number): number {
    this.#isPeerLeaving = true;
    if (this.#options.role === "client") {
      for (const stream of this.#streams.all()) {
        if (stream.id > lastId) this.#streams.end(stream, CODE.REFUSED_STREAM);
      }
    }
    this.#options.handler.goAwayArrived(bytes.readUInt32BE(start + 4));
    return this.#idleFrame();
  }

  #readWindowUpdate(streamId: number, increment: number): number {
    if (streamId === 0) {
      if (increment === 0) return CODE.PROTOCOL_ERROR;
      return this.#sending.openWindow(increment) ? CODE.NO_ERROR : CODE.FLOW_CONTROL_ERROR;
    }
    if (this.#streams.isIdle(streamId)) return CODE.PROTOCOL_ERROR;
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return CODE.NO_ERROR;
    if (increment === 0) return this.#streamError(stream, CODE.PROTOCOL_ERROR);
    const isAllowed = this.#sending.openStreamWindow(stream, increment);
    return isAllowed ? CODE.NO_ERROR : this.#streamError(stream, CODE.FLOW_CONTROL_ERROR);
  }

  #idleFrame(): number {
    return this.#guard.allowsIdleFrame() ? CODE.NO_ERROR : CODE.ENHANCE_YOUR_CALM;
  }

  /** The peer has broken a rule that concerns one stream. */
  #streamError(stream: Http2Stream, code: number): number {
    this.#streams.end(stream, code);
    return this.#refuse(stream.id, code);
  }

  #localEnded(stream: Http2Stream): void {
    stream.isLocalEnded = true;
    this.#streams.endWhenDone(stream);
  }
}
