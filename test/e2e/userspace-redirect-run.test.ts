import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { type CliProcess, type CliResult, runCli, startCli } from "../support/cli.ts";
import { requires } from "../support/requires.ts";

const STATE = ["--from", "file:examples/kpng-state.yaml", "--node", "vm-001"];
const RUN = ["run", ...STATE, "--to", "userspace", "--redirect", "--loops", "1"];
const CLEANUP = ["cleanup", "--to", "userspace"];
const SERVES = /"msg":"serving /;
const NOT_POSSIBLE_HERE = 4;

function openNamespace() {
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  const exec = (program: string, ...args: readonly string[]): string =>
    namespace.run(() => execFileSync(program, args, { encoding: "utf8" }));
  exec("ip", "link", "set", "lo", "up");
  return {
    run: (args: readonly string[]): Promise<CliResult> => namespace.run(() => runCli(args)),
    start: async (args: readonly string[]): Promise<CliProcess> => {
      const cli = namespace.run(() => startCli(args));
      await cli.waitFor(SERVES, "stderr");
      return cli;
    },
    rules: (): string => exec("nft", "list", "ruleset"),
  };
}

function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-redirect-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("portolan run --redirect", requires("linux", "root", "ip", "nft"), () => {
  test("while an instance runs, a second one and cleanup are refused with its pid", async () => {
    const machine = openNamespace();
    const first = await machine.start(RUN);
    const rules = machine.rules();
    expect(rules).toContain("10.96.0.1 . tcp . 443");
    for (const args of [[...RUN, "--redirect-port", "27000"], CLEANUP]) {
      const { code, stderr } = await machine.run(args);
      expect(stderr).toContain(`by pid ${first.pid}`);
      expect(code).toBe(NOT_POSSIBLE_HERE);
    }
    expect(machine.rules()).toBe(rules);
    expect(await first.stop()).toMatchObject({ code: 0 });
    expect(machine.rules()).toBe("");
  });

  test("what a killed instance left is taken away by cleanup", async () => {
    const machine = openNamespace();
    const killed = await machine.start(RUN);
    await killed.stop("SIGKILL");
    expect(machine.rules()).toContain("10.96.0.1 . tcp . 443");
    expect(await machine.run(CLEANUP)).toMatchObject({ code: 0 });
    expect(machine.rules()).toBe("");
  });

  test("a successor keeps the rules when the first ends, and others out from then on", async () => {
    const machine = openNamespace();
    const run = [...RUN, "--state", join(testFolder(), "state")];
    const first = await machine.start(run);
    const second = await machine.start([...run, "--take-over"]);
    expect(await first.ended()).toMatchObject({ code: 0 });
    expect(machine.rules()).toContain("10.96.0.1 . tcp . 443");
    await second.waitFor(/the redirect is this process's now/, "stderr");
    expect((await machine.run(RUN)).stderr).toContain(`by pid ${second.pid}`);
    expect(await second.stop()).toMatchObject({ code: 0 });
    expect(machine.rules()).toBe("");
  });
});
