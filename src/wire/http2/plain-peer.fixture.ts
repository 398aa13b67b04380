import type { ConnectionHandler } from "./connection-options.ts";
import type { FieldList } from "./hpack/field-list.ts";
import { HeaderBlockWriter } from "./hpack/header-block-writer.ts";
import { headerField } from "./hpack/static-table.ts";
import { CLIENT_CONFIG, type Http2Config, SERVER_CONFIG } from "./http2-config.ts";
import { Http2Connection } from "./http2-connection.ts";
import { type Http2Stream, NO_OWNER, type StreamOwner } from "./http2-stream.ts";
import { type Memory, OutputBuffer } from "./output-buffer.ts";
import { CODE, FRAME, FRAME_HEADER_BYTES } from "./protocol.ts";

export const REQUEST: readonly (readonly [string, string])[] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":authority", "a.example"],
  [":path", "/"],
];

export function blockOf(pairs: readonly (readonly [string, string])[]): Buffer {
  const writer = new HeaderBlockWriter();
  for (const [name, value] of pairs) writer.field(headerField(name, value));
  return Buffer.from(writer.bytes);
}

export function frameOf(
  type: number,
  flags: number,
  streamId: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

/** What came on a stream. Reads as it comes, unless told otherwise. */
export class StreamNotes implements StreamOwner {
  readonly stream: Http2Stream;
  isReading = true;
  heads = 0;
  status = "";
  body = "";
  isEnded = false;
  resetWith: number | undefined;
  isDone = false;
  sentBytes = 0;

  constructor(stream: Http2Stream) {
    this.stream = stream;
    stream.owner = this;
  }

  fieldsArrived({ fields }: FieldList, isEnd: boolean): void {
    this.heads += 1;
    this.status = fields.find(({ name }) => name.text === ":status")?.value ?? this.status;
    this.isEnded = isEnd;
  }

  dataArrived(bytes: Buffer, start: number, end: number, isEnd: boolean): void {
    this.body += bytes.toString("latin1", start, end);
    this.isEnded = isEnd;
    if (this.isReading) this.stream.consumed(end - start);
  }

  streamReset(code: number): void {
    this.resetWith = code;
  }

  streamDone(): void {
    this.isDone = true;
  }

  dataSent(byteCount: number): void {
    this.sentBytes += byteCount;
  }

  send(text: string, isEnd = false): number {
    const bytes = Buffer.from(text, "latin1");
    return this.stream.send(bytes, 0, bytes.length, isEnd);
  }
}

/** One side of a connection, with what came, and its clock. */
export class PlainPeer implements ConnectionHandler {
  readonly connection: Http2Connection;
  readonly output: OutputBuffer<Memory>;
  readonly opened: StreamNotes[] = [];
  readonly goAways: number[] = [];
  nowMs = 0;
  pings = 0;
  closedStreams = 0;
  /** The error code with which it ended the connection. */
  code: number = CODE.NO_ERROR;

  constructor(role: "server" | "client", changes: Partial<Http2Config> = {}) {
    const borrow = (byteCount: number): Memory => ({ bytes: Buffer.alloc(byteCount) });
    this.output = new OutputBuffer({ borrow, giveBack: () => undefined }, () => undefined);
    this.connection = new Http2Connection({
      role,
      config: { ...(role === "server" ? SERVER_CONFIG : CLIENT_CONFIG), ...changes },
      sink: this.output,
      handler: this,
      nowMs: () => this.nowMs,
    });
    this.connection.start();
  }

  streamOpened(stream: Http2Stream, _head: FieldList, isEnd: boolean): void {
    const notes = new StreamNotes(stream);
    notes.heads = 1;
    notes.isEnded = isEnd;
    this.opened.push(notes);
  }

  streamClosed(): void {
    this.closedStreams += 1;
  }

  settingsArrived(): void {}

  goAwayArrived(code: number): void {
    this.goAways.push(code);
  }

  pingAnswered(): void {
    this.pings += 1;
  }

  receive(bytes: Buffer): number {
    const code = this.connection.receive(bytes, 0, bytes.length);
    if (code !== CODE.NO_ERROR) this.code = code;
    return code;
  }

  /** All that it has to say. */
  takeOutput(): Buffer {
    const taken: Buffer[] = [];
    while (this.output.size > 0) {
      const { bytes, start, size } = this.output;
      taken.push(Buffer.from(bytes.subarray(start, start + size)));
      this.output.drop(size);
      this.connection.pump();
    }
    return Buffer.concat(taken);
  }

  /** A request on a stream of its own. */
  request(isEnd = true): StreamNotes {
    const notes = new StreamNotes(this.connection.open(NO_OWNER));
    notes.stream.sendFields(blockOf(REQUEST), isEnd);
    return notes;
  }
}

export interface Pair {
  readonly client: PlainPeer;
  readonly server: PlainPeer;
}

/** A client and a server that have greeted each other. */
export function connected(server: Partial<Http2Config> = {}): Pair {
  const pair = { client: new PlainPeer("client"), server: new PlainPeer("server", server) };
  settle(pair);
  return pair;
}

/** Carries what each says to the other until both are quiet. */
export function settle({ client, server }: Pair): void {
  for (;;) {
    const [toServer, toClient] = [client.takeOutput(), server.takeOutput()];
    if (toServer.length === 0 && toClient.length === 0) return;
    server.receive(toServer);
    client.receive(toClient);
  }
}

export interface SeenFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export function framesIn(bytes: Buffer): readonly SeenFrame[] {
  const frames: SeenFrame[] = [];
  let at = 0;
  while (at < bytes.length) {
    const length = bytes.readUIntBE(at, 3);
    const start = at + FRAME_HEADER_BYTES;
    frames.push({
      type: bytes[at + 3] ?? 0,
      flags: bytes[at + 4] ?? 0,
      streamId: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(start, start + length),
    });
    at = start + length;
  }
  return frames;
}

/** The codes with which streams were reset, and with which the connection was ended. */
export function codesIn(bytes: Buffer): { readonly resets: number[]; readonly goAways: number[] } {
  const codes: { resets: number[]; goAways: number[] } = { resets: [], goAways: [] };
  for (const { type, payload } of framesIn(bytes)) {
    if (type === FRAME.RST_STREAM) codes.resets.push(payload.readUInt32BE(0));
    if (type === FRAME.GOAWAY) codes.goAways.push(payload.readUInt32BE(4));
  }
  return codes;
}
