import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const STATE = "examples/kubernetes.yaml";
const TIMEOUT_MS = 20_000;
const run = promisify(execFile);

function pathOf(example: string): string {
  return `examples/library/${example}.mjs`;
}

/** Runs an example to its end. */
async function runExample(example: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: ROOT, timeout: TIMEOUT_MS };
  return (await run(process.execPath, [pathOf(example), ...args], options)).stdout;
}

/** Starts an example that goes on, and waits until it says something. */
async function startExample(example: string, ...args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [pathOf(example), ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

async function startServer(name: string): Promise<string> {
  const server = createServer((_asked, answer) => answer.end(name));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function curl(...args: readonly string[]): Promise<string> {
  return (await run("curl", ["--silent", "--show-error", "--max-time", "10", ...args])).stdout;
}

describe("a program that is no file", requires("curl"), () => {
  test.each([
    ["--eval", "--input-type=module"],
    ["--eval", "--input-type", "module"],
  ])("runs a load balancer, too: node %s %s", async (evaluate, ...type) => {
    const listen = `127.0.0.1:${await freePort()}`;
    const servers = [await startServer("a")];
    const text = `
      import { serve } from "portolan";
      const web = ${JSON.stringify({ listen, servers })};
      const balancer = await serve({ services: { web } }, { loops: 1 });
      console.log("serves");
      process.once("SIGTERM", () => balancer.close());`;
    const child = spawn(process.execPath, [...type, evaluate, text], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    expect(await curl(`http://${listen}/`)).toBe("a");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

describe("loops of a program", requires("linux"), () => {
  test.each([
    { options: {}, how: "stay awake" },
    { options: { stayAwake: "off" }, how: "sleep where they are told so" },
  ])("$how between the requests of one connection", async ({ options }) => {
    const listen = `127.0.0.1:${await freePort()}`;
    const servers = [await startServer("a")];
    const text = `
      import { Agent, get } from "node:http";
      import { serve } from "portolan";
      const web = ${JSON.stringify({ listen, servers })};
      const balancer = await serve({ services: { web } }, ${JSON.stringify({ loops: 1, ...options })});
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = () => new Promise((resolve, reject) => {
        get("http://${listen}/", { agent }, (answer) => answer.resume().on("end", resolve)).on("error", reject);
      });
      for (let request = 0; request < 200; request += 1) await ask();
      const looks = balancer.metrics().find(({ name }) => name === "loop_looks_total");
      console.log(looks.samples[0].value);
      agent.destroy();
      await balancer.close();`;
    const evaluated = ["--input-type=module", "--eval", text];
    const { stdout } = await run(process.execPath, evaluated, { cwd: ROOT, timeout: TIMEOUT_MS });
    expect(stdout).toMatch(/^\d+\n$/);
    expect(Number(stdout) > 0).toBe(!("stayAwake" in options));
  });
});

describe("examples of the library", requires("curl"), () => {
  test("load-balancer balances, and ends in order", async () => {
    const listen = `127.0.0.1:${await freePort()}`;
    const servers = [await startServer("a"), await startServer("b")];
    const child = await startExample("load-balancer", listen, ...servers);
    const heard = [];
    for (let call = 0; call < 4; call += 1) heard.push(await curl(`http://${listen}/`));
    expect(new Set(heard)).toEqual(new Set(["a", "b"]));
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("socks5 leads to any target", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const server = await startServer("a");
    await startExample("socks5", address);
    expect(await curl("--socks5-hostname", address, `http://${server}/`)).toBe("a");
  });

  test("own-client takes turns by undici, node:net and node:http", async () => {
    const servers = [await startServer("a"), await startServer("b")];
    const nobody = `127.0.0.1:${await freePort()}`;
    const lines = (await runExample("own-client", ...servers, nobody)).trim().split("\n");
    expect(lines.slice(0, 4).toSorted()).toEqual([
      "undici: a",
      "undici: a",
      "undici: b",
      "undici: b",
    ]);
    expect(lines[4]).toMatch(/^net: \d+$/);
    expect(lines[5]).toMatch(/^http: [ab]$/);
  });

  test("backend prints where services lead to", async () => {
    expect(await runExample("backend", STATE, "worker-2")).toBe("shop/web -> 10.244.2.10\n");
  });

  test("route says where a packet goes, and why", async () => {
    const args = [STATE, "worker-2", "10.244.2.99", "10.96.20.1", "80"];
    expect(await runExample("route", ...args)).toMatch(
      /^The packet goes to\n {2}10\.244\.2\.10:8080 {2}100 %[\s\S]*Because\n/,
    );
  });
});
