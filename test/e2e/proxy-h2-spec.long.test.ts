import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { LOCAL } from "./proxy-config.ts";
import { named, startH2, startProxy } from "./proxy-h2-fixture.ts";

/** The path of h2spec (github.com/summerwind/h2spec), which Debian has no package of. */
const H2SPEC = process.env["PORTOLAN_H2SPEC"] ?? "";

const NEEDED =
  H2SPEC === ""
    ? { skip: true, meta: { skipReason: "needs PORTOLAN_H2SPEC, the path of h2spec" } }
    : {};

test("h2spec finds nothing", NEEDED, async () => {
  const proxy = await startProxy([await startH2(named("hello"))]);
  const port = String(proxy.port());
  const { stdout } = await promisify(execFile)(H2SPEC, ["-h", LOCAL, "-p", port, "--timeout", "5"]);
  const [summary] = /\d+ tests, \d+ passed, .*/.exec(stdout) ?? [stdout];
  process.stdout.write(`h2spec: ${summary}\n`);
  expect(summary).toMatch(/^[1-9]\d* tests, \d+ passed, 0 skipped, 0 failed$/);
});
