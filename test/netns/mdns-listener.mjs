/**
 * Prints what all on a link are told by mDNS, a line for each address: NAME TYPE ADDRESS TTL. The first line says that it listens.
 *
 *     node mdns-listener.mjs 4|6 LINK
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import process from "node:process";
import { decode } from "dns-packet";

const [, , family, link = ""] = process.argv;
const group = family === "4" ? "224.0.0.251" : `ff02::fb%${link}`;
const socket = createSocket({ type: family === "4" ? "udp4" : "udp6", reuseAddr: true });
socket.bind({ address: group, port: 5353 });
await once(socket, "listening");
if (family === "4") socket.addMembership(group);
else socket.addMembership("ff02::fb", `::%${link}`);
socket.on("message", (bytes) => {
  for (const { name, type, data, ttl } of decode(bytes).answers ?? []) {
    process.stdout.write(`${name} ${type} ${data} ${ttl}\n`);
  }
});
process.stdout.write("listening\n");
