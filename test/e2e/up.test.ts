import { once } from "node:events";
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { callInstance } from "../../src/daemon/instance-socket/client.ts";
import { instancePath } from "../../src/daemon/presence.ts";
import { runCli, startCli } from "../support/cli.ts";
import { LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { makeStateFolder, NO_PORTS, startUp } from "./up-fixture.ts";

const NODE_PROVIDER = ["--provider", "node", "--drain-timeout", "10ms"];

test("what commands made serves, and serves again after a restart", async () => {
  const state = makeStateFolder();
  const port = await freePort();
  const server = await startNamedServer("s1");
  const first = await startUp(state, [...NO_PORTS, ...NODE_PROVIDER]);
  for (const line of [
    "add upstream u0",
    "add server-group g0 protocol none",
    `add server s1 to server-group g0 address 127.0.0.1:${server.port}`,
    "add server-group g0 to upstream u0 weight 10",
    `add tcp-lb lb0 address 127.0.0.1:${port} upstream u0`,
  ]) {
    expect(await first.command(line)).toMatchObject({ kind: "done" });
  }
  const call = async (): Promise<string | undefined> => (await LineClient.open(port)).line();
  expect(await call()).toBe("s1");
  expect(statSync(state).mode & 0o777).toBe(0o700);
  expect(await first.cli.stop()).toMatchObject({ code: 0 });
  const second = await startUp(state, [...NO_PORTS, ...NODE_PROVIDER]);
  await second.cli.waitFor(/"msg":"serving /, "stderr");
  expect(await call()).toBe("s1");
  expect(await second.command("list tcp-lb")).toEqual({ kind: "names", names: ["lb0"] });
  await second.command("System: shutdown");
  expect(await second.cli.ended()).toMatchObject({ code: 0 });
});

test("all ports that are taken are told at once, and nothing is started", async () => {
  const names = ["metrics", "health", "resp", "http"] as const;
  const holders = await Promise.all(
    names.map(async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      onTestFinished(() => void server.close());
      const address = server.address();
      return typeof address === "object" && address !== null ? address.port : 0;
    }),
  );
  const flags = names.flatMap((name, index) => [`--${name}-listen`, String(holders[index])]);
  const { code, stderr } = await runCli(["up", "--state", makeStateFolder(), ...flags]);
  expect(code).toBe(1);
  const words = ["metrics", "health", "commands by RESP", "the HTTP API"];
  for (const [index, port] of holders.entries()) {
    expect(stderr).toContain(
      `127.0.0.1:${port} for ${words[index]} is taken by node (pid ${process.pid}); choose another with --${names[index]}-listen, or --${names[index]}-listen off`,
    );
  }
});

test("an address that is taken: the command is refused and leaves nothing", async () => {
  const state = makeStateFolder();
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  onTestFinished(() => void holder.close());
  const address = holder.address();
  const taken = typeof address === "object" ? address?.port : undefined;
  const up = await startUp(state, [...NO_PORTS, ...NODE_PROVIDER]);
  await up.command("add upstream u0");
  await expect(
    up.command(`add tcp-lb lb0 address 127.0.0.1:${taken} upstream u0`),
  ).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: expect.stringContaining(`listener default/lb0: can not listen on 127.0.0.1:${taken}`),
  });
  expect(await up.keys("Listener")).toEqual([]);
  await up.command(`add tcp-lb lb0 address 127.0.0.1:${await freePort()} upstream u0`);
  expect(await up.keys("Listener")).toEqual(["default/lb0"]);
  const { listeners } = await callInstance(instancePath(state), "status", {});
  expect(listeners).toMatchObject([{ key: "default/lb0", owner: "control", connections: 0 }]);
});

test("a journal that is damaged, or clashes with a source, is refused with what to do", async () => {
  const state = makeStateFolder();
  const up = await startUp(state, [...NO_PORTS, "--to", "print"]);
  await up.command("add server-group g0");
  await up.command("add server-group g1");
  await up.cli.stop();
  const journal = join(state, "journal.jsonl");
  const good = readFileSync(journal, "utf8");
  const clash = join(state, "clash.yaml");
  writeFileSync(clash, "version: 1\ngroups:\n  g0: {}\n");
  const args = ["up", "--state", state, ...NO_PORTS, "--to", "print"];
  const clashed = await runCli([...args, "--from", `file:${clash}`]);
  expect(clashed.code).toBe(3);
  expect(clashed.stderr).toMatch(/Group default\/g0 of control claims .*clash\.yaml holds/);
  writeFileSync(journal, good.replace('"g0"', '"gX"'));
  const damaged = await runCli(args);
  expect(damaged.code).toBe(3);
  expect(damaged.stderr).toMatch(/journal\.jsonl:2: .*checksum does not fit.*--no-load/);
  const fresh = await startUp(state, [...NO_PORTS, "--to", "print", "--no-load"]);
  await fresh.cli.waitFor(/--no-load: what commands made is not loaded/, "stderr");
  expect(await fresh.keys("Group")).toEqual([]);
  await fresh.cli.stop();
  expect(readdirSync(state).filter((name) => name.startsWith("journal.jsonl."))).toHaveLength(1);
  writeFileSync(journal, good);
  appendFileSync(journal, '{"seq":3,"set":[{"ki');
  const torn = await startUp(state, [...NO_PORTS, "--to", "print"]);
  expect(torn.cli.stderr).toContain("was not written to its end, and is cut off");
  expect(await torn.keys("Group")).toEqual(["default/g0", "default/g1"]);
});

test("a folder has one instance; ports that are taken are named with who has them", async () => {
  const state = makeStateFolder();
  const port = await freePort();
  const [, , ...others] = NO_PORTS;
  const args = [...others, "--to", "print", "--resp-listen", String(port)];
  const up = await startUp(state, args);
  await up.cli.waitFor(/takes commands by RESP on /, "stderr");
  const second = await runCli(["up", "--state", state, ...NO_PORTS, "--to", "print"]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`is that of the instance with pid ${up.cli.pid}`);
  const elsewhere = await runCli(["up", "--state", makeStateFolder(), ...args]);
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.stderr).toContain(
    `127.0.0.1:${port} for commands by RESP is taken by node (pid ${up.cli.pid}); choose another with --resp-listen`,
  );
});

test("loops that were made and removed are gone after a restart, and the others there", async () => {
  const state = makeStateFolder();
  const first = await startUp(state, NO_PORTS);
  for (const line of [
    "add event-loop-group g",
    "add event-loop a to event-loop-group g",
    "add event-loop b to event-loop-group g",
    "remove event-loop a from event-loop-group g",
    "add event-loop-group h",
    "add event-loop c to event-loop-group h",
    "force-remove event-loop-group h",
  ]) {
    await first.command(line);
  }
  await first.cli.stop("SIGKILL");
  const again = await startUp(state, NO_PORTS);
  expect(await again.command("list event-loop-group")).toMatchObject({ names: ["worker", "g"] });
  expect(await again.command("list event-loop in event-loop-group g")).toMatchObject({
    names: ["b"],
  });
});

test("a controller that others could reach needs a secret, which is nowhere to be seen", async () => {
  const state = makeStateFolder();
  const [, , , , ...others] = NO_PORTS;
  const args = ["--http-listen", "off", ...others, "--to", "print", "--resp-listen", "0.0.0.0:0"];
  const refused = await runCli(["up", "--state", state, ...args]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("PORTOLAN_RESP_PASSWORD");
  const password = "very-secret-word";
  const up = await startUp(state, args, { env: { PORTOLAN_RESP_PASSWORD: password } });
  await up.cli.waitFor(/takes commands by RESP on /, "stderr");
  const { files } = await callInstance(instancePath(state), "support", {});
  expect(files.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["config.json", "status.json", "metrics.txt", "log.jsonl"]),
  );
  const all = JSON.stringify(files) + up.cli.stderr + readFileSync(join(state, "journal.jsonl"));
  expect(all).not.toContain(password);
  const { controllers } = await callInstance(instancePath(state), "status", {});
  expect(controllers).toMatchObject([{ type: "resp-controller", name: "resp", hasSecret: true }]);
});

test("changes leave a line with who and what came of it, also those that were refused", async () => {
  const up = await startUp(makeStateFolder(), [...NO_PORTS, "--to", "print"]);
  await up.command("add server-group g0");
  await up.command("list server-group");
  await expect(up.command("remove server-group none")).rejects.toMatchObject({
    code: "ERR_NOT_FOUND",
  });
  await up.cli.waitFor(/"result":"ERR_NOT_FOUND"/, "stderr");
  const audits = up.cli.stderr
    .split("\n")
    .filter((line) => line.includes('"via"'))
    .map((line): unknown => JSON.parse(line));
  expect(audits).toMatchObject([
    { audit: { via: "console", command: "add server-group g0", result: "done" } },
    { audit: { via: "console", command: "remove server-group none", result: "ERR_NOT_FOUND" } },
  ]);
});

test("without sources or backends it takes commands for the userspace proxy, and stdin may end", async () => {
  const state = makeStateFolder();
  const cli = startCli(["up", "--state", state, ...NO_PORTS, "--loops", "1"], { stdin: "" });
  await cli.waitFor(/what commands make is kept in/, "stderr");
  const { components } = await callInstance(instancePath(state), "status", {});
  expect(components).toContainEqual(
    expect.objectContaining({ kind: "backend", name: "userspace", health: "ok" }),
  );
  expect(await cli.stop("SIGINT")).toMatchObject({ code: 130 });
});

test("controllers come and go by commands, and are there again after a restart", async () => {
  const state = makeStateFolder();
  const port = await freePort();
  const first = await startUp(state, [...NO_PORTS, "--to", "print"]);
  await first.command(`add http-controller h0 address 127.0.0.1:${port}`);
  const ask = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/api/v1/module/server-group`)).status;
  expect(await ask()).toBe(200);
  await expect(
    first.command(`add resp-controller r0 address 127.0.0.1:${port}`),
  ).rejects.toMatchObject({
    code: "ERR_LISTEN",
    message: expect.stringContaining(`is taken by node (pid ${first.cli.pid})`),
  });
  await first.cli.stop("SIGKILL");
  const second = await startUp(state, [...NO_PORTS, "--to", "print"]);
  await second.cli.waitFor(/takes the HTTP API on/, "stderr");
  expect(await ask()).toBe(200);
  await second.command("remove http-controller h0");
  await expect(ask()).rejects.toThrow();
  expect(await second.command("list http-controller")).toEqual({ kind: "names", names: [] });
});

test("a source that can not be reached holds up the commands, not the end", async () => {
  const state = makeStateFolder();
  const args = ["up", "--state", state, ...NO_PORTS, "--to", "print"];
  const cli = startCli([...args, "--from", `api:127.0.0.1:${await freePort()}`]);
  await cli.waitFor(/"component":"source api:/, "stderr");
  await expect(
    callInstance(instancePath(state), "command", { line: "add upstream u0" }),
  ).rejects.toMatchObject({ message: expect.stringContaining("still starts") });
  const { reasons } = await callInstance(instancePath(state), "status", {});
  expect(reasons.join()).toContain("source api:");
  expect(await cli.stop()).toMatchObject({ code: 0 });
});

test("a dry run shows what commands made before, and leaves it as it is", async () => {
  const state = makeStateFolder();
  const up = await startUp(state, [...NO_PORTS, "--to", "print"]);
  await up.command("add server-group g0");
  await up.cli.stop();
  const before = readdirSync(state);
  const { code, stdout } = await runCli(["up", "--state", state, "--to", "print", "--dry-run"]);
  expect(code).toBe(0);
  expect(stdout).toContain("would follow control");
  expect(stdout).toContain("would serve commands by RESP on 127.0.0.1:16309");
  expect(stdout).toContain("set groups default/g0");
  expect(readdirSync(state)).toEqual(before);
});
