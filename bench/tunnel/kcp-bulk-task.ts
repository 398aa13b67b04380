/**
 * `serve PORT`: sends bytes without end to everyone who asks with a byte; the checks of a tunnel only connect.
 * `fetch HOST PORT SECONDS`: asks, reads for so long, and prints how many bytes came and how long it took.
 */
import { connect, createServer } from "node:net";

const [role, ...args] = process.argv.slice(2);
const chunk = Buffer.alloc(65_536, 0x5a);

if (role === "serve") {
  const server = createServer((socket) => {
    const push = (): void => {
      while (socket.write(chunk));
    };
    socket.on("drain", push);
    socket.on("error", () => undefined);
    socket.once("data", push);
  });
  server.listen(Number(args[0]), "0.0.0.0", () => process.stdout.write("ready\n"));
} else {
  const [host = "", port = "", seconds = ""] = args;
  /** Again where nobody is there yet, or the connection does not last. */
  const fetchOnce = (): void => {
    const startedMs = performance.now();
    let bytes = 0;
    const finish = (): void => {
      const tookMs = performance.now() - startedMs;
      process.stdout.write(`${JSON.stringify({ bytes, tookMs })}\n`, () => process.exit(0));
    };
    const socket = connect(Number(port), host);
    socket.write("?");
    const timer = setTimeout(
      () => (bytes > 0 ? finish() : socket.destroy()),
      Number(seconds) * 1000,
    );
    socket.on("data", (data) => {
      bytes += data.length;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      setTimeout(fetchOnce, 200);
    });
  };
  fetchOnce();
}
