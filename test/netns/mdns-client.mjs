/**
 * Asks all on a link by mDNS and prints the first answers of that name and type as JSON, whatever else is told meanwhile.
 *
 *     node mdns-client.mjs 4|6 LINK NAME TYPE
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import process from "node:process";
import { decode, encode } from "dns-packet";

const PORT = 5353;
const [, , family, link = "", name = "", type = ""] = process.argv;
const group = family === "4" ? "224.0.0.251" : `ff02::fb%${link}`;
const socket = createSocket({ type: family === "4" ? "udp4" : "udp6", reuseAddr: true });
socket.bind({ address: group, port: PORT });
await once(socket, "listening");
if (family === "4") socket.addMembership(group);
else {
  socket.addMembership("ff02::fb", `::%${link}`);
  socket.setMulticastInterface(`::%${link}`);
}
socket.on("message", (bytes) => {
  const message = decode(bytes);
  if (message.type !== "response") return;
  const answers = message.answers.filter((one) => one.name === name && one.type === type);
  if (answers.length === 0) return;
  process.stdout.write(JSON.stringify(answers));
  clearInterval(asking);
  socket.close();
});
const question = encode({ type: "query", id: 0, questions: [{ type, name }] });
const ask = () => socket.send(question, PORT, group);
const asking = setInterval(ask, 1100);
ask();
