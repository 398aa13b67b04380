import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { watchReadable } from "../../src/platform/linux/binding.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import type { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { openBound, receiveFrom, sendTo } from "./sockets.ts";

const PATIENCE_MS = 5000;

/** Answers every datagram with a name; ends with the test. */
export function serveUdp(
  namespace: NetworkNamespace,
  ip: string,
  port: number,
  name: string,
): void {
  const fd = namespace.run(() => openBound("UDP", ip, port));
  const watch = watchReadable(fd, () => {
    const datagram = receiveFrom(fd);
    if (typeof datagram !== "number") sendTo(fd, Buffer.from(name), datagram.from);
  });
  onTestFinished(() => {
    watch.close();
    close(fd);
  });
}

/** What is answered; empty where nothing is. */
export async function askUdp(
  namespace: NetworkNamespace,
  from: string,
  ip: string,
  port: number,
): Promise<string> {
  const fd = namespace.run(() => openBound("UDP", from, 0));
  const answered = new Promise<string>((resolve) => {
    const watch = watchReadable(fd, () => {
      const datagram = receiveFrom(fd);
      if (typeof datagram === "number") return;
      watch.close();
      resolve(datagram.bytes.toString());
    });
    onTestFinished(() => watch.close());
  });
  onTestFinished(() => void close(fd));
  sendTo(fd, Buffer.from("hello"), ipAddress(ip, port));
  return Promise.race([answered, delay(PATIENCE_MS, "", { ref: false })]);
}
