import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Authority, createAuthority } from "../../src/brain/identity/authority.ts";
import { startHttpServers } from "../lb/http-servers.ts";
import { freePort, type ServiceProcess, startService } from "../lb/service-process.ts";
import { median } from "../support/measure.ts";
import { cpuSecondsOf } from "../support/process-tree.ts";
import type { Figure } from "../support/report.ts";
import type { PartOptions, PartResult } from "./part.ts";

const MAIN = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
const HOST = "127.0.0.1";
const REQUEST = `GET /small HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
const HOUR_MS = 3_600_000;
const US_PER_MS = 1000;
/** What a pair may add to a request at the median. */
const LIMIT_US = 150;
const [REQUESTS, QUICK_REQUESTS] = [2000, 300];
const WARM_UP = 300;

/** How long it takes to ask once, in microseconds, one after the other. */
type Ask = (port: number, requests: number) => Promise<number>;

/** Where requests go to, and the sidecars on their way. */
interface Place {
  readonly port: number;
  readonly sidecars: readonly ServiceProcess[];
}

const AS_SHIPPED: readonly string[] = [];
/** As it was before loops stayed awake between the packets of a request. */
const ASLEEP: readonly string[] = ["--stay-awake", "off"];

/** What a pair of sidecars (out and in, a process each, one loop each) adds to a request on loopback. */
export async function measureSidecars(options: PartOptions): Promise<PartResult> {
  const servers = await startHttpServers(options.folder);
  const places = new Map<string, Place>();
  try {
    const [server = 0] = servers.ports;
    const { folder } = options;
    const identity = await issue(folder);
    places.set("direct", { port: server, sidecars: [] });
    places.set("plain", await startPair(folder, server, AS_SHIPPED));
    places.set("plain, asleep", await startPair(folder, server, ASLEEP));
    places.set("mutual TLS", await startPair(folder, server, AS_SHIPPED, identity));
    places.set("mutual TLS, asleep", await startPair(folder, server, ASLEEP, identity));
    return resultOf(await askAll(places, options));
  } finally {
    for (const { sidecars } of places.values()) for (const one of sidecars) await one.stop();
    await servers.stop();
  }
}

async function startPair(
  folder: string,
  server: number,
  flags: readonly string[],
  files?: Identity,
): Promise<Place> {
  const [inside, outside] = [await freePort(), await freePort()];
  const first = await startSidecar(folder, inside, server, flags, files && { in: files });
  try {
    const second = await startSidecar(folder, outside, inside, flags, files && { out: files });
    return { port: outside, sidecars: [first, second] };
  } catch (error) {
    await first.stop();
    throw error;
  }
}

async function askAll(
  places: ReadonlyMap<string, Place>,
  { rounds, isQuick }: PartOptions,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const values = new Map<string, number[]>();
  const requests = isQuick ? QUICK_REQUESTS : REQUESTS;
  const note = (key: string, value: number): void => {
    values.set(key, [...(values.get(key) ?? []), value]);
  };
  for (const { port } of places.values()) await askOnOne(port, WARM_UP);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, { port, sidecars }] of places) {
      for (const [kind, ask] of ASKS) {
        const before = cpuMicroseconds(sidecars);
        note(`${kind}, ${name}`, await ask(port, requests));
        if (kind !== KEEP_ALIVE || sidecars.length === 0) continue;
        note(`${CPU}, ${name}`, (cpuMicroseconds(sidecars) - before) / requests);
      }
    }
  }
  return values;
}

const KEEP_ALIVE = "keep-alive";
const CPU = "CPU of the pair";

function cpuMicroseconds(processes: readonly ServiceProcess[]): number {
  return processes.reduce((sum, { pid }) => sum + cpuSecondsOf(pid) * US_PER_MS * US_PER_MS, 0);
}

const ASKS: ReadonlyMap<string, Ask> = new Map([
  [KEEP_ALIVE, askOnOne],
  ["new connections", askAnew],
]);

function resultOf(values: ReadonlyMap<string, readonly number[]>): PartResult {
  const at = (key: string): number => median(values.get(key) ?? []);
  const figures: Figure[] = [];
  for (const kind of ASKS.keys()) {
    for (const name of ["plain", "mutual TLS"]) {
      figures.push({
        name: `a sidecar pair adds, ${kind}, ${name}`,
        value: at(`${kind}, ${name}`) - at(`${kind}, direct`),
        unit: "µs",
        // The target is for a request; what connections cost besides is only told.
        limit: kind === KEEP_ALIVE ? LIMIT_US : undefined,
      });
      figures.push({
        name: "  the same where loops sleep between packets",
        value: at(`${kind}, ${name}, asleep`) - at(`${kind}, direct`),
        unit: "µs",
        limit: undefined,
      });
    }
  }
  const rows = [...values].map(
    ([key, all]) => `  ${key.padEnd(38)}${median(all).toPrecision(3)} µs`,
  );
  return {
    text: ["a request at the median", ...rows].join("\n"),
    figures,
    values: Object.fromEntries(values),
  };
}

/** One after the other on one connection. */
async function askOnOne(port: number, requests: number): Promise<number> {
  const socket = await open(port);
  const times: number[] = [];
  for (let index = 0; index < requests; index += 1) {
    const beganMs = performance.now();
    await answered(socket);
    times.push((performance.now() - beganMs) * US_PER_MS);
  }
  socket.destroy();
  return median(times);
}

/** Each on a connection of its own, with connecting. */
async function askAnew(port: number, requests: number): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < requests / 2; index += 1) {
    const beganMs = performance.now();
    const socket = await open(port);
    await answered(socket);
    times.push((performance.now() - beganMs) * US_PER_MS);
    socket.destroy();
  }
  return median(times);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: HOST, port, noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** The answer is short: it comes in one piece. */
function answered(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const closed = (): void => reject(new Error("the connection was closed"));
    socket.once("close", closed);
    socket.once("data", () => {
      socket.off("close", closed);
      resolve();
    });
    socket.write(REQUEST);
  });
}

interface Identity {
  readonly certFiles: readonly string[];
  readonly keyFile: string;
  readonly caFile: string;
}

async function issue(folder: string): Promise<Identity> {
  const authority = await Authority.open(await createAuthority("portolan", Date.now()));
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { certificate } = await authority.sign({
    identity: { trustDomain: "portolan", kind: "service", name: "default/shop" },
    publicKey: String(publicKey.export({ format: "pem", type: "spki" })),
    hosts: [],
    nowMs: Date.now(),
    lifetimeMs: HOUR_MS,
  });
  const [cert, key, ca] = ["shop.pem", "shop-key.pem", "ca.pem"].map((name) => join(folder, name));
  if (cert === undefined || key === undefined || ca === undefined) throw new TypeError("no files");
  writeFileSync(cert, certificate);
  writeFileSync(key, String(privateKey.export({ format: "pem", type: "pkcs8" })));
  writeFileSync(ca, authority.certificate);
  return { certFiles: [cert], keyFile: key, caFile: ca };
}

/** One side of a pair: `in` ends TLS, `out` begins it. */
function startSidecar(
  folder: string,
  port: number,
  to: number,
  flags: readonly string[],
  identity: { readonly in?: Identity; readonly out?: Identity } | undefined,
): Promise<ServiceProcess> {
  const peers = ["spiffe://portolan/*"];
  const held = identity?.in ?? identity?.out;
  const objects = [
    ...(held ? [{ kind: "Certificate", name: "id", ...held }] : []),
    { kind: "Service", name: "to", type: "Plain", ports: [{ port: 80, targetPort: to }] },
    {
      kind: "Group",
      name: "to",
      ...(identity?.out && { tls: { certificate: "default/id", peers } }),
    },
    { kind: "Endpoint", name: "to", group: "to", addresses: [HOST], ports: [{ port: to }] },
    {
      kind: "Listener",
      name: "front",
      address: HOST,
      port,
      service: "default/to",
      ...(identity?.in && { tls: { certificates: ["default/id"], peers } }),
    },
  ];
  const file = join(folder, `sidecar-${port}.json`);
  writeFileSync(file, JSON.stringify({ version: 1, objects }));
  const run = ["run", "--from", `file:${file}`, "--to", "userspace", "--loops", "1"];
  const isSecured = identity?.in !== undefined;
  const command = [process.execPath, MAIN, ...run, "--log-level", "warn", ...flags];
  return isSecured ? startService(command, port, listens) : startService(command, port);
}

/** It speaks TLS: that it listens is all that can be seen of it. */
function listens(port: number): Promise<boolean> {
  return open(port).then(
    (socket) => {
      socket.destroy();
      return true;
    },
    () => false,
  );
}
