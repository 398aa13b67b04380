// A small service: says its name, and what the next service says, which it calls through its sidecar's SOCKS5 server.
import { createServer, request } from "node:http";
import { connect } from "node:net";

const [name, port, next, socksPort] = process.argv.slice(2);
const TIMEOUT_MS = 3000;

/**
 * A connection to HOST:80 of the mesh.
 * @param {string} host
 * @returns {Promise<import("node:net").Socket>}
 */
function throughSidecar(host) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(socksPort), "127.0.0.1");
    const target = Buffer.from(host);
    /** @type {((answer: Buffer) => unknown)[]} */
    const steps = [
      // No password; the sidecar is on this machine.
      () => socket.write(Buffer.from([5, 1, 0])),
      () => socket.write(Buffer.from([5, 1, 0, 3, target.length, ...target, 0, 80])),
      (answer) => {
        socket.removeAllListeners("data");
        if (answer[1] === 0) resolve(socket);
        else socket.destroy(new Error(`the sidecar answers ${answer[1]}`));
      },
    ];
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("no answer")));
    socket.on("connect", () => steps.shift()?.(Buffer.of()));
    socket.on("data", (bytes) => steps.shift()?.(bytes));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the sidecar has closed")));
  });
}

/**
 * @param {string} host
 * @returns {Promise<string>}
 */
async function ask(host) {
  const socket = await throughSidecar(`${host}.mesh`);
  return new Promise((resolve, reject) => {
    const asking = request({ host: `${host}.mesh`, createConnection: () => socket }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
      answer.on("end", () => {
        if (answer.statusCode === 200) resolve(text);
        else reject(new Error(text));
      });
    });
    asking.on("error", reject).end();
  });
}

const server = createServer(async (_, answer) => {
  const own = `${name}(${process.pid})`;
  try {
    answer.end(next ? `${own} > ${await ask(next)}` : own);
  } catch (error) {
    answer.writeHead(502).end(`${own}: ${error instanceof Error ? error.message : error}`);
  }
});
server.listen(Number(port), "127.0.0.1");
