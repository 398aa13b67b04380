/** A process with loops that are blocked, which ends in the way that its argument names. */
import { listenForEnd } from "../../src/daemon/end-requests.ts";
import type { EchoCommand } from "../../src/net/threads/echo-program.fixture.ts";
import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";
import { LoopThread } from "../../src/net/threads/loop-thread.ts";

const PROGRAM = new URL("../../src/net/threads/echo-program.fixture.ts", import.meta.url);
const [how = ""] = process.argv.slice(2);

const host = sourceHost();
const loops = await Promise.all(
  ["one", "two"].map((name) =>
    LoopThread.start(host, { name, program: PROGRAM, maxFds: 100, maxHeapMb: 40 }),
  ),
);
const [first] = loops;

function tell(command: EchoCommand): void {
  first?.send(command);
}

const WAYS: Readonly<Record<string, () => void>> = {
  throw: () => {
    setImmediate(() => {
      throw new Error("thrown on main");
    });
  },
  reject: () => {
    void Promise.reject(new Error("rejected on main"));
  },
  exit: () => process.exit(7),
  "loop-dies": () => {
    tell({ kind: "die" });
    void first?.ended.then(() => process.exit(8));
  },
  "loop-out-of-memory": () => {
    tell({ kind: "eat-heap" });
    void first?.ended.then(() => process.exit(9));
  },
  "loop-hangs": () => {
    tell({ kind: "hang" });
    setTimeout(() => process.exit(10), 50);
  },
  "stop-all": () => {
    void Promise.all(loops.map((loop) => loop.stop())).then(() => {
      process.stdout.write("stopped\n");
    });
  },
  "sigterm-twice": () => {
    const { asked } = listenForEnd({
      signals: process,
      stdout: process.stdout,
      log: host.log,
      hasTerminal: false,
      exit: (code) => process.exit(code),
    });
    // A clean end that takes for ever.
    void asked.then(() => process.stdout.write("asked\n"));
    setInterval(() => undefined, 1000);
  },
};

WAYS[how]?.();
process.stdout.write("ready\n");
