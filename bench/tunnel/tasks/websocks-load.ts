/**
 * Reads the answers to requests over connections that go to a server, or through SOCKS5 to it.
 *
 *     node websocks-load.js plain|socks5 PORT SERVER_PORT SECONDS CONNECTIONS PATH
 *
 * With 0 seconds each connection makes one request, when all of them stand. Prints bytes and answers.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const [way = "", ...rest] = process.argv.slice(2);
const [port = 0, serverPort = 0, seconds = 0, connections = 0] = rest.slice(0, 4).map(Number);
const path = rest[4] ?? "/bulk";
const HOST = "127.0.0.1";
const REQUEST = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const SOCKS_REPLY_BYTES = 10;

let bytes = 0;
let answers = 0;
const sockets = await Promise.all(Array.from({ length: connections }, open));
const endMs = performance.now() + seconds * 1000;
await Promise.all(sockets.map(load));
console.log(JSON.stringify({ bytes, answers }));

async function open(): Promise<Socket> {
  const socket = connect(port, HOST);
  await once(socket, "connect");
  if (way === "plain") return socket;
  socket.write(Buffer.from([5, 1, 0]));
  await take(socket, 2);
  const request = Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, 0, 0]);
  request.writeUInt16BE(serverPort, request.length - 2);
  socket.write(request);
  const [, code] = await take(socket, SOCKS_REPLY_BYTES);
  if (code !== 0) throw new Error(`SOCKS5 answers ${code}`);
  return socket;
}

async function take(socket: Socket, byteCount: number): Promise<Buffer> {
  for (;;) {
    const chunk: unknown = socket.read(byteCount);
    if (Buffer.isBuffer(chunk)) return chunk;
    if (socket.readableEnded) throw new Error("the connection has ended");
    await once(socket, "readable");
  }
}

/** One request after the other, until the time is over. */
async function load(socket: Socket): Promise<void> {
  let left = 0;
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => resolve());
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      // What follows the end of an answer is the head of the next one, and its beginning.
      left = left > 0 ? left - chunk.length : bodyAfter(chunk);
      if (left > 0) return;
      answers += 1;
      if (performance.now() < endMs) socket.write(REQUEST);
      else socket.destroy();
    });
    socket.write(REQUEST);
  });
}

/** How much of a body is still to come after the head and its beginning. */
function bodyAfter(chunk: Buffer): number {
  const end = chunk.indexOf("\r\n\r\n");
  const [, length = ""] = /content-length: (\d+)/i.exec(chunk.toString("latin1", 0, end)) ?? [];
  if (end < 0 || length === "") throw new Error("the head of an answer was cut");
  return Number(length) - (chunk.length - end - 4);
}
