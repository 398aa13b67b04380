/**
 * `hold-connections PORT COUNT`: opens connections, lets one request through each, says `ready` and
 * holds them until its standard input ends.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const HOST = "127.0.0.1";
/** As many at a time as a listening socket surely queues. */
const AT_ONCE = 64;

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
const held: Socket[] = [];
while (held.length < count) {
  const sockets = Array.from({ length: Math.min(AT_ONCE, count - held.length) }, open);
  held.push(...(await Promise.all(sockets)));
}
console.log("ready");
process.stdin.resume();
await once(process.stdin, "end");
process.exit(0);

async function open(): Promise<Socket> {
  const socket = connect(port, HOST);
  socket.write("GET /small HTTP/1.1\r\nHost: bench\r\n\r\n");
  await once(socket, "data");
  socket.on("close", () => {
    throw new Error("a connection that should be held was closed");
  });
  return socket;
}
