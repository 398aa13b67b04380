import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { openTun, setTunOffloads } from "../../src/platform/linux/tun-device.ts";

export type Side = "left" | "right";
export const LINE_IP = { left: "192.0.2.1", right: "192.0.2.2" } as const;

export interface LineConditions {
  readonly lossRate: number;
  /** Each way. */
  readonly delayMs: number;
  readonly megabits: number;
  readonly queueMs: number;
}

/** What it starts ends with this process. */
const LAUNCHER = "setpriv";
const RELAY = fileURLToPath(new URL("./kcp-relay-task.js", import.meta.url));
/** How often it is looked whether a line is quiet. */
const LOOK_MS = 100;
/** Less than so many bytes between two looks are words of keep-alive. */
const QUIET_BYTES = 1000;

/** Two hosts out of network namespaces, and a bad line between them, which ends with this process. */
export class Line {
  readonly #sides: Readonly<Record<Side, NetworkNamespace>>;
  readonly #relay: ChildProcess;
  /** Bytes of IP packets that each side has sent. */
  readonly sent: Record<Side, number> = { left: 0, right: 0 };

  static async open(conditions: LineConditions): Promise<Line> {
    const line = new Line(conditions);
    if (line.#relay.stdout !== null) await once(line.#relay.stdout, "data");
    return line;
  }

  private constructor({ lossRate, delayMs, megabits, queueMs }: LineConditions) {
    this.#sides = { left: NetworkNamespace.create(), right: NetworkNamespace.create() };
    const left = this.#tun("left");
    const right = this.#tun("right");
    const numbers = [lossRate, delayMs, megabits, queueMs].map(String);
    this.#relay = spawn(LAUNCHER, ["--pdeathsig", "KILL", process.execPath, RELAY, ...numbers], {
      stdio: ["ignore", "pipe", "inherit", left, right],
    });
    closeSync(left);
    closeSync(right);
    this.#relay.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const last = text.trimEnd().split("\n").at(-1) ?? "";
      const [fromLeft = 0, fromRight = 0] = last.split(" ").map(Number);
      this.sent.left = fromLeft;
      this.sent.right = fromRight;
    });
  }

  /** The congestion control of TCP for what the left side sends over the line. */
  useControl(name: string): void {
    const route = ["route", "replace", "192.0.2.0/24", "dev", "line0", "src", LINE_IP.left];
    this.#sides.left.run(() => execFileSync("ip", [...route, "congctl", name], { stdio: "pipe" }));
  }

  /** Until hardly anything was sent for so long. */
  async quiet(forMs: number): Promise<void> {
    for (let quietMs = 0; quietMs < forMs; ) {
      const before = this.sent.left + this.sent.right;
      await setTimeout(LOOK_MS);
      const isQuiet = this.sent.left + this.sent.right - before < QUIET_BYTES;
      quietMs = isQuiet ? quietMs + LOOK_MS : 0;
    }
  }

  spawn(side: Side, args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
    return this.#sides[side].run(() =>
      spawn(LAUNCHER, ["--pdeathsig", "KILL", process.execPath, ...args], {
        env,
        stdio: ["ignore", "pipe", "ignore"],
      }),
    );
  }

  async close(): Promise<void> {
    const over = once(this.#relay, "exit");
    this.#relay.kill("SIGKILL");
    await over;
    this.#sides.left.close();
    this.#sides.right.close();
  }

  #tun(side: Side): number {
    const descriptor = this.#sides[side].run(() => {
      execFileSync("ip", ["link", "set", "lo", "up"]);
      return openTun({
        name: "line0",
        mtu: 1500,
        addresses: [{ ip: LINE_IP[side], prefix: 24 }],
      });
    });
    setTunOffloads(descriptor, false);
    return descriptor;
  }
}
