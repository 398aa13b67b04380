import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { TunnelMode } from "../../src/edge/tunnel/peer.ts";
import type { TunnelOptions } from "../../src/edge/tunnel/tunnel.ts";
import { generateTunnelKey, publicTunnelKey } from "../../src/edge/tunnel/tunnel-keys.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { DEVICE, HOST_IP, INNER_IP, INNER_MTU, type Pair, SIDES, type Side } from "./pair.ts";

/** A way from one host to the other. */
export interface Contestant {
  readonly name: string;
  /** The only loads that it is measured with; all where it is missing. */
  readonly loads?: readonly string[];
  /** Makes it; returns where the right side is, and what to end. */
  start(pair: Pair): Promise<{ readonly to: string; readonly children: readonly ChildProcess[] }>;
  /** What ending the programs leaves behind. */
  stop?(pair: Pair): void;
}

const PORT = 50_103;
const SERVICE_IP = "10.30.0.1";
const TASK: string = fileURLToPath(new URL("./tasks/tunnel.js", import.meta.url));
const SOURCE = join(process.cwd(), "bench", "edge", "one-packet.c");
/** Its sockets are named after the devices, for all namespaces of a machine. */
const WIREGUARD_DEVICES = { left: "edge1", right: DEVICE } as const;
const ON_DEVICE = { to: INNER_IP.right } as const;

export const direct: Contestant = {
  name: "veth direct",
  start: async () => ({ to: HOST_IP.right, children: [] }),
};

export const vxlan: Contestant = {
  name: "kernel VXLAN",
  start: async (pair) => {
    for (const side of SIDES) {
      const ends = `local ${HOST_IP[side]} remote ${HOST_IP[otherOf(side)]}`;
      pair.ip(side, `link add ${DEVICE} type vxlan id 7 dstport 4789 ${ends}`);
      pair.configureDevice(side);
    }
    return { ...ON_DEVICE, children: [] };
  },
  stop: (pair) => {
    for (const side of SIDES) pair.ip(side, `link del ${DEVICE}`);
  },
};

/**
 * Through a service: what the right side has is an instance of it. As users have it, or with `awakeMs` or without a
 * kernel path, see `TunnelOptions`; those for echoes only.
 */
export function portolan(
  mode: TunnelMode,
  { awakeMs = 0, kernelPath = "auto" }: Pick<TunnelOptions, "awakeMs" | "kernelPath"> = {},
): Contestant {
  const keys = { left: generateTunnelKey(), right: generateTunnelKey() };
  const marks = [
    ...(kernelPath === "off" ? ["no kernel path"] : []),
    ...(awakeMs > 0 ? ["awake"] : []),
  ];
  return {
    name: [`Portolan ${mode}`, ...marks].join(", "),
    ...(marks.length > 0 && { loads: ["echo"] }),
    start: async (pair) => {
      const children: ChildProcess[] = [];
      for (const side of SIDES) {
        const task = JSON.stringify({
          options: {
            node: side,
            tunName: DEVICE,
            addresses: [`${INNER_IP[side]}/24`],
            mtu: INNER_MTU,
            listen: ipAddress(HOST_IP[side], PORT),
            privateKey: keys[side],
            subnets: [`${INNER_IP[side]}/32`],
            serviceRanges: ["10.30.0.0/16"],
            awakeMs,
            kernelPath,
          },
          services: [
            {
              key: "bench/right",
              names: [],
              addresses: [{ address: SERVICE_IP, policy: "round-robin", instance: -1 }],
              instances: [{ number: 0, node: "right", addresses: [INNER_IP.right], weight: 1 }],
            },
          ],
          peers: [peerOf(otherOf(side), mode, keys)],
        });
        children.push(await pair.start(side, process.execPath, [TASK, task]));
        pair.ip(side, `route add 10.30.0.0/16 dev ${DEVICE}`);
      }
      return { to: SERVICE_IP, children };
    },
  };
}

/** A plain program in C, one packet a call. */
export function onePacket(folder: string): Contestant {
  return {
    name: "C, one packet a call",
    start: async (pair) => {
      const program = join(folder, "one-packet");
      execFileSync("gcc", ["-O2", "-o", program, SOURCE]);
      const children: ChildProcess[] = [];
      for (const side of SIDES) {
        const args = [DEVICE, HOST_IP[side], HOST_IP[otherOf(side)], String(PORT)];
        children.push(await pair.start(side, program, args));
        pair.configureDevice(side);
      }
      return { ...ON_DEVICE, children };
    },
  };
}

export function tinc(folder: string): Contestant {
  return {
    name: "tinc, no cipher",
    start: async (pair) => {
      for (const side of SIDES) writeTinc(join(folder, side), side);
      for (const side of SIDES) {
        for (const host of SIDES) copyHost(folder, host, side);
      }
      const children = SIDES.map((side) =>
        pair.spawn(side, "tincd", [
          "-c",
          join(folder, side),
          "-D",
          `--pidfile=${folder}/${side}.pid`,
        ]),
      );
      await untilDevice(pair);
      for (const side of SIDES) pair.configureDevice(side);
      return { ...ON_DEVICE, children };
    },
  };
}

export const wireguardGo: Contestant = {
  name: "wireguard-go",
  start: async (pair) => {
    const env = { ...process.env, WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: "1" };
    const keys = { left: generateTunnelKey(), right: generateTunnelKey() };
    const children = SIDES.map((side) =>
      pair.spawn(side, "wireguard-go", ["-f", WIREGUARD_DEVICES[side]], env),
    );
    await untilDevice(pair, WIREGUARD_DEVICES);
    for (const side of SIDES) {
      const other = otherOf(side);
      const lines = [
        `private_key=${hex(keys[side])}`,
        `listen_port=${PORT}`,
        `public_key=${hex(publicTunnelKey(keys[other]))}`,
        `endpoint=${HOST_IP[other]}:${PORT}`,
        "allowed_ip=10.99.0.0/24",
      ];
      await configureWireguard(WIREGUARD_DEVICES[side], lines);
      pair.ip(
        side,
        `addr add ${INNER_IP[side]}/24 dev ${WIREGUARD_DEVICES[side]}`,
        `link set ${WIREGUARD_DEVICES[side]} mtu ${INNER_MTU} up`,
      );
    }
    return { ...ON_DEVICE, children };
  },
  stop: () => {
    for (const side of SIDES) rmSync(wireguardSocket(WIREGUARD_DEVICES[side]), { force: true });
  },
};

function peerOf(side: Side, mode: TunnelMode, keys: Readonly<Record<Side, string>>): object {
  const key = mode === "secure" ? { publicKey: publicTunnelKey(keys[side]) } : {};
  const endpoint = ipAddress(HOST_IP[side], PORT);
  return { node: side, endpoint, subnets: [`${INNER_IP[side]}/32`], modes: [mode], ...key };
}

function otherOf(side: Side): Side {
  return side === "left" ? "right" : "left";
}

function hex(key: string): string {
  return Buffer.from(key, "base64").toString("hex");
}

function writeTinc(folder: string, side: Side): void {
  mkdirSync(join(folder, "hosts"), { recursive: true });
  const lines = [
    `Name = ${side}`,
    `Interface = ${DEVICE}`,
    "DeviceType = tun",
    `ConnectTo = ${otherOf(side)}`,
  ];
  writeFileSync(join(folder, "tinc.conf"), `${lines.join("\n")}\n`);
  const own = [
    `Address = ${HOST_IP[side]}`,
    `Subnet = ${INNER_IP[side]}/32`,
    "Cipher = none",
    "Digest = none",
    "Compression = 0",
  ];
  writeFileSync(join(folder, "hosts", side), `${own.join("\n")}\n`);
  execFileSync("tincd", ["-c", folder, "-K2048"], { stdio: "pipe", input: "\n\n" });
}

function copyHost(folder: string, host: Side, to: Side): void {
  if (host === to) return;
  const name = join("hosts", host);
  execFileSync("cp", [join(folder, host, name), join(folder, to, name)]);
}

async function untilDevice(
  pair: Pair,
  devices: Readonly<Record<Side, string>> = { left: DEVICE, right: DEVICE },
): Promise<void> {
  for (const side of SIDES) {
    await until(() => pair.exec(side, "ip", "link", "show", devices[side]));
  }
}

function wireguardSocket(device: string): string {
  return `/var/run/wireguard/${device}.sock`;
}

/** wireguard-go takes its settings on a unix socket, as `wg` would write them. */
async function configureWireguard(device: string, lines: readonly string[]): Promise<void> {
  const socket = connect(wireguardSocket(device));
  socket.end(`set=1\n${lines.join("\n")}\n\n`);
  const [answer] = await once(socket, "data");
  if (!String(answer).startsWith("errno=0")) throw new Error(`wireguard-go refused: ${answer}`);
}

/** Tries again until it does not fail; for ten seconds. */
async function until(attempt: () => unknown): Promise<void> {
  for (let left = 100; ; left -= 1) {
    try {
      attempt();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await delay(100);
    }
  }
}
