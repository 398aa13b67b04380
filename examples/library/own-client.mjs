// node own-client.mjs 127.0.0.1:9001 127.0.0.1:9002
import http from "node:http";
import { balance } from "portolan/proxy";
import { Agent, request } from "undici";

const servers = await balance({
  servers: process.argv.slice(2),
  method: "least-connections",
  healthCheck: { protocol: "http", interval: "1s", http: { path: "/" } },
});
servers.onHealth((name, health, reason) => console.log(name, health, reason));

// A request for each turn, by undici; the host of the URL is what the servers are told.
const dispatcher = new Agent().compose(servers.interceptor());
for (let turn = 0; turn < 4; turn += 1) {
  const { body } = await request("http://web.example/", { dispatcher });
  console.log("undici:", await body.text());
}

// A connection for each turn: of node:net, and of an agent of node:http.
const socket = await servers.connect();
console.log("net:", socket.remotePort);
socket.end();

const agent = new http.Agent();
agent.createConnection = servers.createConnection();
http.get("http://web.example/", { agent }, (response) => {
  response.on("data", (text) => console.log("http:", String(text)));
  response.on("end", async () => {
    agent.destroy();
    await dispatcher.close();
    servers.close();
  });
});
