import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli, startCli } from "../support/cli.ts";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";

async function startLb(...more: readonly string[]) {
  const port = await freePort();
  const cli = startCli(["lb", "--listen", String(port), "--servers", "127.0.0.1:1", ...more]);
  await cli.waitFor(/"msg":"serving /, "stderr");
  return cli;
}

function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-profile-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("portolan profile", requires("linux"), () => {
  test("writes a profile of a running loop, and lists the loops where that one is unknown", async () => {
    const folder = testFolder();
    await startLb("--state", folder, "--loops", "2");
    const out = join(folder, "busy.cpuprofile");
    const at = ["--state", folder];
    const taken = await runCli(["profile", "worker-1", "--seconds", "1", "--out", out, ...at]);
    expect(taken).toMatchObject({ code: 0, stdout: `${out}\n`, stderr: "" });
    expect(JSON.parse(readFileSync(out, "utf8"))).toMatchObject({ nodes: expect.any(Array) });
    const unknown = await runCli(["profile", "nobody", ...at]);
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toBe(
      'portolan: event loop "nobody" is not there; there are worker-1, worker-2\n',
    );
  });

  test("two instances of one user both run; the second says how it would be found", async () => {
    // Both have the user's own state folder, which is that of the tests here.
    await startLb();
    const second = await startLb();
    const [line] = await second.waitFor(/other commands will not find this instance.*/, "stderr");
    expect(line).toMatch(/--state.*is that of the instance with pid \d+/);
  });

  test("a folder that is named and taken is refused", async () => {
    const folder = testFolder();
    const first = await startLb("--state", folder);
    const args = ["--listen", "1", "--servers", "127.0.0.1:1", "--state", folder];
    const { code, stderr } = await runCli(["lb", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(`is that of the instance with pid ${first.pid}`);
  });
});
