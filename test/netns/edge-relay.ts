import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** What happens to datagrams on their way, in both directions. */
export interface Weather {
  readonly delayMs?: number;
  /** Each so many-th is lost. */
  readonly loseEvery?: number;
  /** Each so many-th comes later than those behind it. */
  readonly holdEvery?: number;
}

const HOLD_MS = 3;

/** Passes datagrams between two hosts through the router, as the kernel would with netem. */
export class EdgeRelay {
  readonly #child: ChildProcess;

  /**
   * @param start runs what it is given on the router
   * @param ends each with where the relay listens for it, and where it is
   */
  static async open(
    start: (spawning: () => ChildProcess) => ChildProcess,
    ends: readonly [RelayEnd, RelayEnd],
  ): Promise<EdgeRelay> {
    const args = ["-e", SCRIPT, JSON.stringify(ends)];
    const child = start(() =>
      spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] }),
    );
    if (child.stdout !== null) await once(child.stdout, "data");
    return new EdgeRelay(child);
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  set weather(weather: Weather) {
    this.#child.stdin?.write(`${JSON.stringify(weather)}\n`);
  }
}

export interface RelayEnd {
  readonly listenIp: string;
  readonly hostIp: string;
  readonly port: number;
  /** Of the host; as `port` when not given. */
  readonly hostPort?: number;
}

const SCRIPT = `
  const ends = JSON.parse(process.argv[1]);
  const dgram = require("node:dgram");
  let weather = {};
  let count = 0;
  const sockets = ends.map(({ listenIp, port }, index) => {
    const socket = dgram.createSocket({ type: "udp4", recvBufferSize: 4194304 });
    socket.on("message", (bytes) => {
      count += 1;
      if (count % (weather.loseEvery ?? Infinity) === 0) return;
      const isHeld = count % (weather.holdEvery ?? Infinity) === 0;
      const waitMs = (weather.delayMs ?? 0) + (isHeld ? ${HOLD_MS} : 0);
      const to = ends[1 - index];
      const send = () => sockets[1 - index].send(bytes, to.hostPort ?? to.port, to.hostIp);
      if (waitMs === 0) send();
      else setTimeout(send, waitMs);
    });
    socket.bind(port, listenIp);
    return socket;
  });
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    weather = JSON.parse(line);
  });
  Promise.all(sockets.map((each) => require("node:events").once(each, "listening"))).then(() => console.log("ready"));`;
