import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { runCli } from "../support/cli.ts";
import { requires } from "../support/requires.ts";

const thing = z.object({
  name: z.string(),
  verdict: z.enum(["works", "degraded", "missing"]),
  findings: z.array(z.object({ what: z.string(), remedy: z.string().min(1) })),
});
const survey = z.object({
  auto: z.string().nullable(),
  providers: z.array(thing),
  backends: z.array(thing),
  kernel: z.array(thing),
});

describe("portolan hello", requires("linux"), () => {
  test("without nft and iptables it says how to get them, and what works all the same", async () => {
    const empty = mkdtempSync(join(tmpdir(), "portolan-hello-"));
    onTestFinished(() => rmSync(empty, { recursive: true }));
    const { code, stdout } = await runCli(["hello", "--json"], { env: { PATH: empty } });
    expect(code).toBe(0);
    const { auto, providers, backends, kernel } = survey.parse(JSON.parse(stdout));
    expect(auto).toBe("userspace");
    expect(providers.map(({ name, verdict }) => [name, verdict])).toEqual([
      ["posix", "works"],
      ["node", "works"],
      ["kcp", "works"],
    ]);
    const verdicts = new Map(backends.map(({ name, verdict }) => [name, verdict]));
    expect(verdicts.get("userspace")).toBe("works");
    for (const name of ["nftables", "iptables", "edge"]) {
      expect(verdicts.get(name), name).toBe("missing");
    }
    expect(kernel.map(({ name }) => name)).toContain("conntrack");
    const silent = [...backends, ...kernel].filter(
      ({ verdict, findings }) => verdict !== "works" && findings.length === 0,
    );
    expect(silent).toEqual([]);
  });

  test("what it does not know is refused", async () => {
    expect(await runCli(["hello", "--jsn"])).toMatchObject({ code: 2, stdout: "" });
  });
});
