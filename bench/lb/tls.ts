import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { generate } from "selfsigned";
import { median } from "../support/measure.ts";
import type { Figure } from "../support/report.ts";
import type { Extra, ExtraOptions } from "./extra.ts";
import { type Load, runLoad } from "./loads.ts";
import { portolanLb } from "./portolan-command.ts";
import { cpuSecondsOf } from "./process-tree.ts";
import { freePort, type ServiceProcess, startService } from "./service-process.ts";

const run = promisify(execFile);
const NAMES = ["portolan", "haproxy"] as const;
const LIMIT = 0.8;
const BYTES_A_GIGABYTE = 1e9;

type TlsName = (typeof NAMES)[number];

const LABELS: Readonly<Record<TlsName, string>> = { portolan: "Portolan", haproxy: "HAProxy" };

const BULK: Load = {
  name: "bulk bytes in TLS",
  unit: "GB",
  connections: 8,
  isBulk: true,
  path: "/bulk",
  headers: [],
  amount: ({ bytes }) => bytes / BYTES_A_GIGABYTE,
};

/** One way of using TLS: what a run amounts to. */
interface TlsLoad {
  readonly name: string;
  readonly unit: string;
  run(port: number, options: ExtraOptions): Promise<number>;
}

const LOADS: readonly TlsLoad[] = [
  handshakes("full TLS handshakes (ECDSA)", "-new"),
  handshakes("resumed TLS handshakes", "-reuse"),
  {
    name: BULK.name,
    unit: BULK.unit,
    run: async (port, options) =>
      BULK.amount(await runLoad(BULK, port, { ...options, scheme: "https" })),
  },
];

/** TLS to plain HTTP servers, for a CPU-second, beside HAProxy; one loop and one thread. */
export async function compareTls(options: ExtraOptions): Promise<Extra> {
  const proxies = new Map<TlsName, ServiceProcess>();
  const text: string[] = [];
  const figures: Figure[] = [];
  const values: Record<string, readonly number[]> = {};
  try {
    const files = await writeCertificate(options.folder);
    for (const name of NAMES) proxies.set(name, await start(name, options, files));
    for (const load of LOADS) {
      const rates = await compareLoad(load, proxies, options);
      const ratio = median(
        rates.portolan.map((rate, round) => rate / (rates.haproxy[round] ?? Number.NaN)),
      );
      text.push(load.name, ...NAMES.map((name) => renderRate(name, rates[name], load.unit)));
      const name = `${load.name}: for a CPU-second, to HAProxy's`;
      figures.push({ name, value: ratio, unit: "times", limit: LIMIT, bound: "least" });
      for (const proxy of NAMES) values[`${load.name}, ${LABELS[proxy]}`] = rates[proxy];
    }
  } finally {
    for (const [, proxy] of proxies) await proxy.stop();
  }
  return { text: text.join("\n"), figures, values };
}

async function compareLoad(
  load: TlsLoad,
  proxies: ReadonlyMap<TlsName, ServiceProcess>,
  options: ExtraOptions,
): Promise<Readonly<Record<TlsName, readonly number[]>>> {
  const rates: Record<TlsName, number[]> = { portolan: [], haproxy: [] };
  for (const [, { port }] of proxies) await load.run(port, options);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [name, { pid, port }] of round % 2 === 0 ? [...proxies] : [...proxies].reverse()) {
      const before = cpuSecondsOf(pid);
      const amount = await load.run(port, options);
      rates[name].push(amount / (cpuSecondsOf(pid) - before));
    }
  }
  return rates;
}

/** One after the other, each with a request: what counts is the CPU time of the proxy. */
function handshakes(name: string, mode: "-new" | "-reuse"): TlsLoad {
  return {
    name,
    unit: "handshakes",
    run: async (port, { seconds }) => {
      const where = ["-connect", `127.0.0.1:${port}`, "-www", "/small"];
      const { stdout } = await run("openssl", ["s_time", ...where, mode, "-time", String(seconds)]);
      const [, count] = /^(\d+) connections in \d+ real seconds/m.exec(stdout) ?? [];
      if (count === undefined) throw new Error(`openssl s_time said: ${stdout}`);
      return Number(count);
    },
  };
}

interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** Both, as HAProxy wants them. */
  readonly both: string;
}

async function writeCertificate(folder: string): Promise<CertificateFiles> {
  const made = await generate([{ name: "commonName", value: "bench.example" }], { keyType: "ec" });
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  return {
    cert: write("cert.pem", made.cert),
    key: write("key.pem", made.private),
    both: write("both.pem", `${made.cert}\n${made.private}`),
  };
}

async function start(
  name: TlsName,
  { folder, serverPorts }: ExtraOptions,
  { cert, key, both }: CertificateFiles,
): Promise<ServiceProcess> {
  const port = await freePort();
  const servers = serverPorts.map((server) => `127.0.0.1:${server}`);
  if (name === "portolan") {
    const tls = ["--tls-cert", cert, "--tls-key", key];
    return startService(
      portolanLb(port, "--servers", servers.join(","), ...tls),
      port,
      answersHttps,
    );
  }
  const config = join(folder, "haproxy-tls.conf");
  writeFileSync(config, haproxyConfig(port, servers, both));
  return startService(["haproxy", "-db", "-f", config], port, answersHttps);
}

function haproxyConfig(port: number, servers: readonly string[], pem: string): string {
  const lines = servers.map((server, index) => `  server s${index} ${server} check inter 5s`);
  return `
global
  maxconn 9500
  nbthread 1
defaults
  mode tcp
  timeout connect 5s
  timeout client 15m
  timeout server 15m
listen tls
  bind 127.0.0.1:${port} backlog 8192 ssl crt ${pem} ssl-min-ver TLSv1.2
  balance roundrobin
${lines.join("\n")}
`;
}

/** Whether an HTTP request is answered inside TLS. */
async function answersHttps(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect");
    socket.write("GET /small HTTP/1.0\r\n\r\n");
    await once(socket, "data");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function renderRate(name: TlsName, rates: readonly number[], unit: string): string {
  const rate = median(rates);
  const shown = rate >= 100 ? Math.round(rate).toLocaleString("en") : rate.toPrecision(3);
  return `  ${LABELS[name].padEnd(14)}${shown} ${unit} a CPU-second`;
}
