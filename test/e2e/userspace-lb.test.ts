import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CliProcess, runCli, startCli } from "../support/cli.ts";
import { callTimes, LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";

/** `portolan lb` on a port of its own, once its servers are up. */
async function startLb(
  servers: readonly { readonly port: number }[],
  ...more: readonly string[]
): Promise<{ readonly cli: CliProcess; readonly port: number }> {
  const port = await freePort();
  const addresses = servers.map((server) => `127.0.0.1:${server.port}`).join(",");
  const cli = startCli(["lb", "--listen", String(port), "--servers", addresses, ...more]);
  for (const server of servers) {
    await cli.waitFor(new RegExp(`"port":${server.port},"msg":"a server is up"`), "stderr");
  }
  return { cli, port };
}

async function startTwo() {
  return [await startNamedServer("a"), await startNamedServer("b")] as const;
}

describe.each(["posix", "node"])("with the provider %s", (provider) => {
  test("balances connections in one line, in both directions", async () => {
    // One loop: several take turns each for itself.
    const { port } = await startLb(await startTwo(), "--provider", provider, "--loops", "1");
    expect([...(await callTimes(port, 8))].sort()).toEqual([..."aaaabbbb"]);
    const client = await LineClient.open(port);
    await client.line();
    expect(await client.ask("hello")).toBe("hello");
    client.end();
    expect(await client.line()).toBeUndefined();
  });

  test("status tells what it did", async () => {
    const state = await mkdtemp(join(tmpdir(), "portolan-lb-"));
    onTestFinished(() => rm(state, { recursive: true, force: true }));
    const { port } = await startLb(await startTwo(), "--provider", provider, "--state", state);
    await callTimes(port, 8);
    const { stdout } = await runCli(["status", "--json", "--state", state]);
    expect(JSON.parse(stdout)).toMatchObject({ listeners: [{ totalConnections: 8 }] });
  });

  test("SIGTERM stops accepting, and finishes what is open", async () => {
    const { cli, port } = await startLb(await startTwo(), "--provider", provider);
    const client = await LineClient.open(port);
    await client.line();
    const ended = cli.stop("SIGTERM");
    await cli.waitFor(/"msg":"ending"/, "stderr");
    await refused(port);
    expect(await client.ask("still there")).toBe("still there");
    client.end();
    expect(await client.line()).toBeUndefined();
    expect((await ended).code).toBe(0);
  });

  test("what is open after the drain time-out is cut", async () => {
    const more = ["--provider", provider, "--drain-timeout", "200ms"];
    const { cli, port } = await startLb(await startTwo(), ...more);
    const client = await LineClient.open(port);
    await client.line();
    const ended = cli.stop("SIGTERM");
    expect(await client.line()).toBeUndefined();
    expect((await ended).code).toBe(0);
  });

  test("a second SIGTERM ends it at once", async () => {
    const { cli, port } = await startLb(await startTwo(), "--provider", provider);
    const client = await LineClient.open(port);
    await client.line();
    cli.kill("SIGTERM");
    await cli.waitFor(/"msg":"ending"/, "stderr");
    expect((await cli.stop("SIGTERM")).code).toBe(143);
  });

  test("counts for Prometheus", async () => {
    const listen = ["--metrics-listen", "0", "--provider", provider];
    const { cli, port } = await startLb(await startTwo(), ...listen);
    const [, address] = await cli.waitFor(/status pages on ([\d.:]+)/, "stderr");
    await callTimes(port, 3);
    const text = await (await fetch(`http://${address}/metrics`)).text();
    const listener = `backend="userspace",listener="default/lb",address="127.0.0.1:${port}"`;
    expect(text).toContain(`portolan_listener_connections_total{${listener}} 3\n`);
    expect(text.match(/^portolan_server_up\{.*\} 1$/gm)).toHaveLength(2);
    expect(text.match(/^portolan_server_checks_total\{.*result="ok"\} [1-9]\d*$/gm)).toHaveLength(
      2,
    );
    expect(text).toMatch(/^portolan_server_latency_seconds_bucket\{.*le="\+Inf"\} [12]$/m);
  });
});

test("a port that is taken is named in one line, with who has it, and ends it", async () => {
  const taken = await startNamedServer("taken");
  const args = ["lb", "--listen", String(taken.port), "--servers", "127.0.0.1:1"];
  const { code, stderr } = await runCli(args);
  expect(code).toBe(1);
  const errors = stderr.split("\n").filter((line) => line.includes("EADDRINUSE"));
  const what = `listener default/lb: can not listen on 127.0.0.1:${taken.port}: EADDRINUSE`;
  const whose = `.+ (pid ${process.pid}) listens there: stop it, or choose another address`;
  expect(errors[0]).toContain(`"msg":"sync failed: ${what}; `);
  expect(errors[0]).toMatch(new RegExp(whose.replace(/[()]/g, "\\$&")));
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toContain('"stack"');
});

test("an address that the machine does not have ends it, with those that it has", async () => {
  const args = ["lb", "--listen", "192.0.2.1:8080", "--servers", "127.0.0.1:1"];
  const { code, stderr } = await runCli(args);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^portolan: --listen: can not listen on 192.0.2.1:8080: this machine does not have the address; expected one of .*127\.0\.0\.1/,
  );
});

test("wrong usage is 2, with all that is wrong", async () => {
  const { code, stderr } = await runCli(["lb", "--listen", "0", "--servers", "nonsense"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^portolan: --listen: .*\nportolan: --servers: "nonsense"/);
});

test("--dry-run says what it would do, and opens nothing", async () => {
  const { code, stdout } = await runCli([
    ...["lb", "--listen", "8080", "--servers", "127.0.0.1:9001", "--dry-run"],
  ]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^would send to userspace:\n {2}reset$/m);
});

/** Waits until nobody listens any more. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const client = await LineClient.open(port).catch(() => undefined);
    if (client === undefined) return;
    client.end();
    await client.closed;
  }
}
