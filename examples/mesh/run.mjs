// Three services with a sidecar each, and a manager: node examples/mesh/run.mjs [--port-base 28000] [--state DIR]
// Calls go  client > front's sidecar > front > SOCKS5 > (mutual TLS) > shop > ... > stock ; what dies is started again.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const PORTOLAN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const SERVICE = fileURLToPath(new URL("service.mjs", import.meta.url));
const { values } = parseArgs({
  options: { "port-base": { type: "string", default: "28000" }, state: { type: "string" } },
});
const base = Number(values["port-base"]);
const folder = values.state ?? mkdtempSync(join(tmpdir(), "portolan-mesh-"));
const BRAIN = `127.0.0.1:${base}`;
const run = promisify(execFile);
/** @param {string[]} args */
const portolan = (...args) => run(process.execPath, [PORTOLAN, ...args]);
/** @param {string} service */
const spiffe = (service) => `spiffe://portolan/service/default/${service}`;

/**
 * @typedef {object} Instance
 * @property {string} name
 * @property {string} service
 * @property {string | undefined} calls the service that it calls
 * @property {string | undefined} from the service that may call it; undefined: everybody
 * @property {number} app port of the program
 * @property {number} entrance port of its sidecar, for others
 * @property {number} socks port of its sidecar, for the program
 */

/**
 * Two of shop: each can go, and calls go on.
 * @type {Instance[]}
 */
const INSTANCES = [
  { name: "front", service: "front", calls: "shop", from: undefined },
  { name: "shop-1", service: "shop", calls: "stock", from: "front" },
  { name: "shop-2", service: "shop", calls: "stock", from: "front" },
  { name: "stock", service: "stock", calls: undefined, from: "shop" },
].map((instance, index) => {
  const first = base + 10 + index * 10;
  return { ...instance, app: first, entrance: first + 1, socks: first + 2 };
});

/** @type {Map<string, import("node:child_process").ChildProcess>} */
const children = new Map();
let isEnding = false;

/**
 * Starts a process, and again whenever it ends.
 * @param {string} name
 * @param {string[]} args
 */
function keep(name, args) {
  // Not of the terminal's group: it is this program that ends it, once and in order.
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.set(name, child);
  process.stdout.write(`started ${name} pid ${child.pid}\n`);
  child.on("exit", async () => {
    children.delete(name);
    if (isEnding) return;
    await wait(300);
    if (!isEnding) keep(name, args);
  });
}

const NO_PORTS = ["resp", "http", "metrics", "health"].flatMap((what) => [
  `--${what}-listen`,
  "off",
]);
/** @param {string} name */
const stateOf = (name) => join(folder, name);
const START_MS = 60_000;

/**
 * Gives a started process a command as soon as a file of it is there; one that has just begun refuses it for a moment.
 * @param {string} sign the file
 * @param {string[]} args of portolan
 * @returns what it prints
 */
async function whenUp(sign, ...args) {
  for (const startMs = performance.now(); ; await wait(100)) {
    const isLate = performance.now() > startMs + START_MS;
    if (!existsSync(sign) && !isLate) continue;
    try {
      return (await portolan(...args)).stdout;
    } catch (error) {
      if (isLate) throw error;
    }
  }
}

/**
 * What makes a sidecar of an instance; the journal keeps it.
 * @param {Instance} instance
 */
function commandsFor({ service, calls, from, app, entrance, socks }) {
  const guard = from === undefined ? "" : ` cert-key identity peers ${spiffe(from)}`;
  const place = `service ${service} zone z0 address 127.0.0.1 port ${entrance}`;
  const checks = "period 500 up 1 down 1";
  return [
    `add server-group app ${checks}`,
    `add server app to server-group app address 127.0.0.1:${app}`,
    "add upstream app",
    "add server-group app to upstream app",
    `add tcp-lb entrance address 127.0.0.1:${entrance} upstream app${guard}`,
    `add smart-node-delegate self ${place} check-address 127.0.0.1:${app} period 500`,
    "add upstream mesh",
    ...(calls === undefined
      ? []
      : [
          `add server-group to-${calls} ${checks} tls identity peers ${spiffe(calls)} hint-host ${calls}.mesh`,
          `add smart-group-delegate ${calls} service ${calls} zone z0 server-group to-${calls}`,
          `add server-group to-${calls} to upstream mesh`,
        ]),
    `add socks5-server way-out address 127.0.0.1:${socks} upstream mesh`,
  ];
}

/** @param {Instance} instance */
async function startSidecar(instance) {
  const { name, service } = instance;
  const isNew = !existsSync(stateOf(name));
  keep(`sidecar-${name}`, [
    ...[PORTOLAN, "up", "--state", stateOf(name), "--from", `api:${BRAIN}`, ...NO_PORTS],
    ...["--loops", "1", "--log-level", "warn", "--announce-ttl", "3s"],
    ...["--identity-from", BRAIN, "--identity-service", service],
    ...["--identity-token-file", join(folder, `${service}.token`)],
  ]);
  const ask = ["console", "--state", stateOf(name)];
  // Before its sources have said what they have an instance opens no journal, and takes no commands.
  await whenUp(join(stateOf(name), "journal.jsonl"), ...ask, "-e", "list upstream");
  // Once: of lines that are given again, those that were taken before are refused.
  if (isNew) await portolan(...ask, ...commandsFor(instance).flatMap((line) => ["-e", line]));
}

/** @param {number} code */
async function end(code) {
  if (isEnding) return;
  isEnding = true;
  const ended = [...children.values()].map(
    (child) => new Promise((resolve) => child.once("exit", resolve)),
  );
  for (const child of children.values()) child.kill("SIGTERM");
  await Promise.race([Promise.all(ended), wait(5000)]);
  for (const child of children.values()) child.kill("SIGKILL");
  if (values.state === undefined) rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => void end(0));
process.on("exit", () => {
  for (const child of children.values()) child.kill("SIGKILL");
});

try {
  mkdirSync(folder, { recursive: true });
  keep("brain", [
    ...[PORTOLAN, "manager", "--state", stateOf("brain"), "--api-listen", BRAIN, ...NO_PORTS],
    ...["--log-level", "warn", "--service-certificate-lifetime", "30s"],
  ]);
  const services = new Set(INSTANCES.map(({ service }) => service));
  const socket = join(stateOf("brain"), "manager.sock");
  const giveToken = async (/** @type {string} */ service) => {
    const path = join(folder, `${service}.token`);
    if (existsSync(path)) return;
    const asked = ["manager", "token", "create", "--state", stateOf("brain")];
    const token = await whenUp(socket, ...asked, "--service", service, "--lifetime", "24h");
    writeFileSync(path, token, { mode: 0o600 });
  };
  await Promise.all([...services].map(giveToken));
  for (const { name, service, app, calls, socks } of INSTANCES) {
    keep(name, [SERVICE, service, String(app), calls ?? "", String(socks)]);
  }
  await Promise.all(INSTANCES.map(startSidecar));
  process.stdout.write(`the mesh is up: http://127.0.0.1:${INSTANCES[0]?.entrance}/\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  await end(1);
}
