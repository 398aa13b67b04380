import { expect, test } from "vitest";
import { ipAddress } from "../../platform/socket-address.ts";
import { MemoryHosts } from "../memory/memory-host.ts";
import { MemoryProvider } from "../memory/memory-provider.ts";
import { SimulatedNetwork } from "../memory/simulated-network.ts";
import { NetEventLoop } from "../net-event-loop.ts";
import { LocalLoop } from "./local-loop.ts";

function makeLoop(): LocalLoop {
  const network = new SimulatedNetwork({ seed: 1 });
  const net = new NetEventLoop({
    provider: new MemoryProvider(new MemoryHosts(network).add("a", ["10.0.0.1"])),
    onError: (error) => {
      throw error;
    },
  });
  return new LocalLoop("local", net, async () => undefined);
}

test("runs until it is stopped, and says when it ended", async () => {
  const loop = makeLoop();
  expect(loop.isRunning).toBe(true);
  await loop.drain();
  await loop.stop();
  expect(loop.isRunning).toBe(false);
  expect(await loop.ended).toEqual({ error: undefined });
});

test("lists and closes its channels", async () => {
  const loop = makeLoop();
  const { net } = loop;
  net.accept(net.provider.listen(ipAddress("10.0.0.1", 80), { backlog: 1 }), {
    onConnection: (fd) => fd.close(),
  });
  const [listener] = await loop.channels();
  expect(listener).toMatchObject({ kind: "listener", local: { port: 80 } });
  if (listener === undefined) throw new Error("not listed");
  await loop.dismiss(listener.id);
  expect(await loop.channels()).toEqual([]);
  await expect(loop.dismiss(listener.id)).rejects.toMatchObject({ code: "ERR_NOT_FOUND" });
});
