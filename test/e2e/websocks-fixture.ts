import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { type CliProcess, startCli } from "../support/cli.ts";
import { freePort } from "../support/named-server.ts";

const run = promisify(execFile);

export const PASSWORD = "a quite secret word";
const PASSWORD_ENV = { PORTOLAN_WEBSOCKS_PASSWORD: PASSWORD };
const SERVING = /"msg":"serving /;

/** Large enough for many reads, and for splicing. */
export const PAGE: string = "portolan ".repeat(500_000);

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-websocks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A site behind the tunnel. @returns its port */
export async function startSite(host = "127.0.0.1"): Promise<number> {
  const server = createServer((request, response) => {
    response.end(request.url === "/large" ? PAGE : "in");
  });
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

export interface AgentSetting {
  readonly env?: Readonly<Record<string, string>>;
  readonly seen?: RegExp;
}

export interface End {
  readonly port: number;
  readonly cli: CliProcess;
}

export async function startServer(
  args: readonly string[],
  { host = "127.0.0.1", port }: { readonly host?: string; readonly port?: number } = {},
): Promise<End> {
  const at = port ?? (await freePort());
  const listen = host.includes(":") ? `[${host}]:${at}` : `${host}:${at}`;
  const cli = startCli(["websocks", "server", "--loops", "1", "--listen", listen, ...args], {
    env: PASSWORD_ENV,
  });
  await cli.waitFor(SERVING, "stderr");
  return { port: at, cli };
}

/** @param seen what is logged when a server has been judged */
export async function startAgent(
  args: readonly string[],
  { env = PASSWORD_ENV, seen = /"msg":"a server is up"/ }: AgentSetting = {},
): Promise<End> {
  const port = await freePort();
  const listen = ["--listen", String(port), "--loops", "1"];
  const cli = startCli(["websocks", "agent", ...listen, ...args], { env });
  await cli.waitFor(SERVING, "stderr");
  await cli.waitFor(seen, "stderr");
  return { port, cli };
}

/** nginx with a location that leads to a server of tunnels. @returns its port */
export async function startGateway(serverPort: number): Promise<number> {
  const folder = makeFolder();
  const port = await freePort();
  mkdirSync(join(folder, "tmp"));
  const config = join(folder, "nginx.conf");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  writeFileSync(
    config,
    `daemon off;
master_process off;
worker_processes 1;
pid ${join(folder, "nginx.pid")};
error_log stderr error;
events { worker_connections 256; }
http {
  access_log off;
  ${paths.map((name) => `${name}_temp_path ${join(folder, "tmp")};`).join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    location / { return 200 "a site\\n"; }
    location /tunnel {
      proxy_pass http://127.0.0.1:${serverPort}/;
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection "upgrade";
    }
  }
}
`,
  );
  const child = spawn("nginx", ["-p", folder, "-c", config], { stdio: "ignore" });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await expect.poll(() => isOpen(port), { timeout: 10_000 }).toBe(true);
  return port;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** What curl got, or `exit N`. */
export async function curl(...args: readonly string[]): Promise<string> {
  const base = ["--silent", "--max-time", "20", "--noproxy", ""];
  const outcome = run("curl", [...base, ...args], { maxBuffer: 2 * PAGE.length });
  return outcome.then(
    ({ stdout }) => stdout,
    (error: unknown) =>
      `exit ${typeof error === "object" && error !== null && "code" in error ? String(error.code) : "?"}`,
  );
}

/** The heads of all answers that curl got on its way, also where it then ends with an error. */
export async function headsOf(...args: readonly string[]): Promise<string> {
  const file = join(makeFolder(), "heads");
  await curl("--dump-header", file, ...args);
  return readFileSync(file, "latin1");
}

export function bySocks(agent: End, url: string): Promise<string> {
  return curl("--socks5-hostname", `127.0.0.1:${agent.port}`, url);
}
