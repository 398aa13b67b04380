import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { generate } from "selfsigned";
import type { Api } from "./api.ts";

export interface Setting {
  readonly folder: string;
  readonly ports: Readonly<Record<"web" | "short" | "tls" | "extra", number>>;
  readonly serverPorts: readonly number[];
}

/** Two listeners with one upstream each, two servers, and one with TLS; settles once servers are up. */
export async function prepare(api: Api, setting: Setting): Promise<void> {
  const { ports, serverPorts } = setting;
  await api.call("POST", "server-group", {
    name: "web",
    timeout: 1000,
    period: 100,
    up: 1,
    down: 3,
  });
  for (const [index, port] of serverPorts.entries()) {
    await api.call("POST", "server-group/web/server", {
      name: `s${index}`,
      address: `127.0.0.1:${port}`,
    });
  }
  await api.call("POST", "upstream", { name: "web" });
  await api.call("POST", "upstream/web/server-group", { name: "web", weight: 10 });
  for (const name of ["a", "b"]) {
    const files = await writeCertificate(setting.folder, name);
    await api.call("POST", "cert-key", { name, ...files });
  }
  const listen = (name: string, port: number, more: object): Promise<void> =>
    api.call("POST", "tcp-lb", { name, address: `127.0.0.1:${port}`, backend: "web", ...more });
  await listen("web", ports.web, { protocol: "http" });
  await listen("short", ports.short, {});
  await listen("tls", ports.tls, { protocol: "http", listOfCertKey: ["a"] });
  await untilServed(ports.web);
}

/** One change after the other, of everything that can be changed; what comes also goes. */
export function* changesInTurn(
  api: Api,
  { ports, serverPorts: [port = 0] }: Setting,
): Generator<() => Promise<void>, void> {
  const address = `127.0.0.1:${port}`;
  for (let round = 0; ; round += 1) {
    const name = `x${round}`;
    yield () => api.call("POST", "server-group/web/server", { name, address });
    yield () => api.call("PUT", `server-group/web/server/${name}`, { weight: 1 + (round % 20) });
    yield () => api.call("DELETE", `server-group/web/server/${name}`);
    yield () => api.call("POST", "server-group", { name, period: 100, up: 1 });
    yield () => api.call("POST", `server-group/${name}/server`, { name, address });
    yield () => api.call("POST", "upstream/web/server-group", { name, weight: 5 });
    yield () => api.call("PUT", `upstream/web/server-group/${name}`, { weight: 1 });
    yield () => api.call("DELETE", `upstream/web/server-group/${name}`);
    yield () => api.call("DELETE", `server-group/${name}`);
    yield () =>
      api.call("POST", "tcp-lb", { name, address: `127.0.0.1:${ports.extra}`, backend: "web" });
    yield () => api.call("PUT", "tcp-lb/web", { timeout: 60_000 + round });
    yield () => api.call("PUT", "tcp-lb/tls", { listOfCertKey: [round % 2 === 0 ? "b" : "a"] });
    yield () => api.call("DELETE", `tcp-lb/${name}`);
  }
}

async function writeCertificate(
  folder: string,
  name: string,
): Promise<{ readonly certs: readonly string[]; readonly key: string }> {
  const pems = await generate([{ name: "commonName", value: `${name}.example` }], {
    keyType: "ec",
  });
  const cert = join(folder, `${name}.pem`);
  const key = join(folder, `${name}.key`);
  writeFileSync(cert, pems.cert);
  writeFileSync(key, pems.private);
  return { certs: [cert], key };
}

const ATTEMPTS = 200;
const RETRY_MS = 50;

async function untilServed(port: number): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/small`).catch(() => undefined);
    await answer?.text();
    if (answer?.ok === true) return;
    await sleep(RETRY_MS);
  }
  throw new Error("no server came up");
}
