import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { generate } from "selfsigned";
import {
  besideHaproxy,
  type Contestant,
  type ContestLoad,
  haproxyConfig,
} from "./beside-haproxy.ts";
import type { Extra, ExtraOptions } from "./extra.ts";
import { type Load, runLoad } from "./loads.ts";
import { portolanLb } from "./portolan-command.ts";
import { freePort, type ServiceProcess, startService } from "./service-process.ts";

const run = promisify(execFile);
const LIMIT = 0.8;
const BYTES_A_GIGABYTE = 1e9;

const BULK: Load = {
  name: "bulk bytes in TLS",
  part: "tls",
  unit: "GB",
  connections: 8,
  isBulk: true,
  path: "/bulk",
  headers: [],
  amount: ({ bytes }) => bytes / BYTES_A_GIGABYTE,
};

const LOADS: readonly ContestLoad[] = [
  handshakes("full TLS handshakes (ECDSA)", "-new"),
  handshakes("resumed TLS handshakes", "-reuse"),
  {
    name: BULK.name,
    unit: BULK.unit,
    run: async (port, options) =>
      BULK.amount(await runLoad(BULK, port, { ...options, scheme: "https" })),
  },
];

/** TLS to plain HTTP servers; one loop and one thread. */
export async function compareTls(options: ExtraOptions): Promise<Extra> {
  const files = await writeCertificate(options.folder);
  const contest = { loads: LOADS, limit: LIMIT };
  return besideHaproxy({ ...contest, start: (name) => start(name, options, files) }, options);
}

/** One after the other, each with a request: what counts is the CPU time of the proxy. */
function handshakes(name: string, mode: "-new" | "-reuse"): ContestLoad {
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
  name: Contestant,
  { folder, serverPorts, otherBuild }: ExtraOptions,
  { cert, key, both }: CertificateFiles,
): Promise<ServiceProcess> {
  const port = await freePort();
  const servers = serverPorts.map((server) => `127.0.0.1:${server}`);
  if (name !== "haproxy") {
    const build = name === "other" ? otherBuild : undefined;
    const args = ["--servers", servers.join(","), "--tls-cert", cert, "--tls-key", key];
    return startService(portolanLb({ port, build }, ...args), port, answersHttps);
  }
  const config = join(folder, "haproxy-tls.conf");
  const bind = `127.0.0.1:${port} backlog 8192 ssl crt ${both} ssl-min-ver TLSv1.2`;
  writeFileSync(config, haproxyConfig({ mode: "tcp", bind, servers }));
  return startService(["haproxy", "-db", "-f", config], port, answersHttps);
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
