/** `node-proxy PORT SERVER_PORT...`: the plainest TCP load balancer on Node's own sockets. */
import { connect, createServer } from "node:net";

const HOST = "127.0.0.1";
const [port, ...serverPorts] = process.argv.slice(2).map(Number);
let turn = 0;

createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
  const serverPort = serverPorts[turn % serverPorts.length] ?? 0;
  turn += 1;
  const server = connect({ port: serverPort, host: HOST, noDelay: true, allowHalfOpen: true });
  client.on("error", () => server.destroy());
  server.on("error", () => client.destroy());
  client.pipe(server);
  server.pipe(client);
}).listen({ port, host: HOST, backlog: 8192 });
