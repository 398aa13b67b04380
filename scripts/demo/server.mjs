import { once } from "node:events";
import { createServer } from "node:http";

const HOST = "127.0.0.1";

/**
 * A small HTTP server that says who it is and what it was asked for.
 * @param {string} name
 * @param {number} port
 * @returns {Promise<{ close(): Promise<void> }>}
 */
export async function startDemoServer(name, port) {
  const server = createServer((request, response) => {
    // What is sent is read to its end, or the connection could not be used again.
    request.resume();
    response.setHeader("content-type", "text/plain; charset=utf-8");
    response.end(`${name} on ${HOST}:${port} answers ${request.method} ${request.url}\n`);
  });
  server.listen(port, HOST);
  await once(server, "listening");
  return {
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
