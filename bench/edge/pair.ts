import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";

export type Side = "left" | "right";
export const SIDES: readonly Side[] = ["left", "right"];

/** Addresses of the two hosts, and of what runs between them. */
export const HOST_IP = { left: "192.0.2.1", right: "192.0.2.2" } as const;
export const INNER_IP = { left: "10.99.0.1", right: "10.99.0.2" } as const;
export const INNER_MTU = 1400;
export const DEVICE = "edge0";

/** Two hosts joined by a wire, out of network namespaces, which end with this process. */
export class Pair {
  readonly #sides: Readonly<Record<Side, NetworkNamespace>>;

  constructor() {
    this.#sides = { left: NetworkNamespace.create(), right: NetworkNamespace.create() };
    this.ip("left", `link add wire type veth peer name wire netns ${this.#sides.right.path}`);
    for (const side of SIDES) {
      this.ip(side, "link set lo up", `addr add ${HOST_IP[side]}/24 dev wire`, "link set wire up");
    }
  }

  ip(side: Side, ...lines: readonly string[]): void {
    this.#sides[side].run(() =>
      execFileSync("ip", ["-batch", "-"], { input: lines.join("\n"), stdio: "pipe" }),
    );
  }

  /** Gives the device between the two its address. */
  configureDevice(side: Side): void {
    this.ip(
      side,
      `addr add ${INNER_IP[side]}/24 dev ${DEVICE}`,
      `link set ${DEVICE} mtu ${INNER_MTU} up`,
    );
  }

  exec(side: Side, program: string, ...args: readonly string[]): string {
    return this.#sides[side].run(() =>
      execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
    );
  }

  spawn(
    side: Side,
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = process.env,
  ): ChildProcess {
    return this.#sides[side].run(() =>
      spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"] }),
    );
  }

  /** Starts a program and waits until it prints its first line. */
  async start(side: Side, program: string, args: readonly string[]): Promise<ChildProcess> {
    const child = this.spawn(side, program, args);
    if (child.stdout !== null) await once(child.stdout, "data");
    return child;
  }

  close(): void {
    for (const side of SIDES) this.#sides[side].close();
  }
}

/** Ends what was started, and waits for it. */
export async function stopAll(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const over = once(child, "exit");
    child.kill("SIGKILL");
    await over;
  }
}
