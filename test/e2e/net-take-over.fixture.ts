/** A process that echoes on one listener: the first of its kind, or one that takes over from it. */
import { EventLoopGroup } from "../../src/net/groups/event-loop-group.ts";
import { SharedListener } from "../../src/net/listeners/shared-listener.ts";
import { SocketOffer } from "../../src/net/take-over/socket-offer.ts";
import { takeOver } from "../../src/net/take-over/take-over.ts";
import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";
import { LoopThread } from "../../src/net/threads/loop-thread.ts";
import { formatSocketAddress, ipAddress } from "../../src/platform/socket-address.ts";

const PROGRAM = new URL("../../src/net/threads/echo-program.fixture.ts", import.meta.url);
const ID = "web";
const BACKLOG = 1024;
const [path = "", mode = ""] = process.argv.slice(2);

const host = sourceHost();
const group = new EventLoopGroup<LoopThread>({
  name: "workers",
  log: host.log,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
});
for (const name of ["one", "two"]) {
  await group.add(await LoopThread.start(host, { name, program: PROGRAM, maxFds: 1000 }));
}

const taken = mode === "first" ? undefined : takeOver(path);
if (mode === "dies") process.exit(5);
const listener = openListener();
await group.attach(listener);
taken?.confirm();

const offer = new SocketOffer(path, {
  log: host.log,
  listeners: () => [listener],
  replaces: taken !== undefined,
  onTaken: () => {
    void leave();
  },
});
process.stdout.write(`serving ${formatSocketAddress(listener.address)}\n`);
// The main thread of a daemon has plenty to do; here it waits.
const waiting = setInterval(() => undefined, 1000);

function openListener(): SharedListener<LoopThread> {
  const options = { id: ID, transport: "stream", backlog: BACKLOG } as const;
  if (taken === undefined) return SharedListener.open(ipAddress("127.0.0.1", 0), options);
  const [first, ...rest] = taken.listeners.get(ID) ?? [];
  if (first === undefined) throw new Error(`no sockets for ${ID}`);
  return SharedListener.adopt([first, ...rest], options);
}

async function leave(): Promise<void> {
  offer.close({ keepFile: true });
  await listener.release();
  await group.close({ drainTimeoutMs: 5000 });
  clearInterval(waiting);
}
