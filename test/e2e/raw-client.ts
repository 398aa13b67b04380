import { onTestFinished } from "vitest";
import { ERRNO, errnoName } from "../../src/platform/errno.ts";
import { SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM } from "../../src/platform/linux/abi.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { domainOf } from "../../src/platform/linux/sockaddr.ts";
import { socket } from "../../src/platform/linux/socket-calls.ts";
import { connectTo } from "../../src/platform/linux/socket-names.ts";
import { checked } from "../../src/platform/linux/system-error.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { readText, writeText } from "../netns/sockets.ts";
import { LOCAL } from "./proxy-config.ts";

/**
 * Says something and hears until the connection is over: all that came, and then `end` or the name
 * of the error. Node's own sockets take a reset that comes right behind bytes for the end.
 */
export async function hearRaw(
  port: number,
  text: string,
): Promise<{ readonly heard: string; readonly over: string }> {
  const address = ipAddress(LOCAL, port);
  const flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const fd = checked("socket", socket(domainOf(address), flags, 0));
  onTestFinished(() => void close(fd));
  const connecting = connectTo(fd, address);
  if (connecting !== -ERRNO.EINPROGRESS) checked("connect", connecting, LOCAL);
  checked("write", await whenReady(() => writeText(fd, text)));
  let heard = "";
  for (;;) {
    const part = await whenReady(() => readText(fd));
    if (typeof part === "number") return { heard, over: errnoName(part) };
    if (part === "") return { heard, over: "end" };
    heard += part;
  }
}

async function whenReady<T>(attempt: () => T): Promise<T> {
  for (;;) {
    const result = attempt();
    if (result !== -ERRNO.EAGAIN) return result;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
