import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkPort } from "./check-port.ts";

const NEVER = new AbortController().signal;

async function openPort(): Promise<{ host: string; port: number; close: () => Promise<void> }> {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  onTestFinished(close);
  return { host: "127.0.0.1", port, close };
}

test("a port that answers has no reason against it; one that does not has", async () => {
  const { close, ...target } = await openPort();
  expect(await checkPort(target, 5000, NEVER)).toBe("");
  await close();
  expect(await checkPort(target, 5000, NEVER)).toContain("ECONNREFUSED");
});

test("a check that is ended says so", async () => {
  const end = new AbortController();
  const { close: _, ...target } = await openPort();
  const checked = checkPort(target, 5000, end.signal);
  end.abort();
  expect(await checked).toBe("the check was ended");
});
