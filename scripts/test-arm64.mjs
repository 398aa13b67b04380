/**
 * Runs the tests of system calls, descriptors and loops on another processor: with Node for arm64 under
 * qemu-user. Ends with the line `N passed, M failed, K skipped`.
 *
 *     node scripts/test-arm64.mjs [words that the paths of test files hold]
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fetchArm64 } from "./arm64/fetch-arm64.mjs";
import { buildTests } from "./lib/build.mjs";
import { main, ROOT } from "./lib/command.mjs";
import { ensureArm64Programs } from "./lib/debian.mjs";
import { ensurePackages } from "./lib/packages.mjs";

const QEMU = "qemu-aarch64-static";
const LIBRARIES = "/usr/aarch64-linux-gnu";
const FOLDERS = ["src/platform", "src/net", "src/wire"];
const TIMEOUT_MS = 300_000;

/** What qemu-user itself does not emulate, by a part of the path. */
const NOT_EMULATED = new Map([
  ["src/platform/linux/bpf/bpf.test", "bpf(2)"],
  ["src/platform/linux/netlink/", "netlink of netfilter"],
  ["src/platform/linux/nft/", "netlink of netfilter"],
  ["src/platform/linux/conntrack/", "netlink of netfilter"],
  ["src/platform/linux/live-rules/", "netlink of netfilter"],
]);

await main(() => {
  ensurePackages();
  ensureArm64Programs();
  if (!existsSync(LIBRARIES)) {
    console.log(`portolan: skipped: ${QEMU} and the libraries of arm64 are not here`);
    return;
  }
  const { node, modules } = fetchArm64();
  const compiled = buildTests();
  const words = process.argv.slice(2);
  const files = FOLDERS.flatMap((folder) => testsIn(join(compiled, folder)))
    .map((file) => file.slice(compiled.length + 1))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of files) {
    const why = [...NOT_EMULATED].find(([part]) => file.startsWith(part))?.[1];
    if (why !== undefined) {
      counts.skipped += 1;
      console.log(`skipped ${file}: qemu-user does not emulate ${why}`);
      continue;
    }
    const outcome = runFile(join(compiled, file), { node, modules });
    counts.passed += outcome.passed;
    counts.failed += outcome.failed;
    counts.skipped += outcome.skipped;
    console.log(`${outcome.failed === 0 ? "ok" : "FAILED"} ${file} (${outcome.passed} passed)`);
    if (outcome.failed > 0) console.log(outcome.output);
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;
});

/** @param {string} folder */
function testsIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith(".test.js") && !entry.name.endsWith(".long.test.js"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * @param {string} file
 * @param {{ readonly node: string, readonly modules: string }} arm64
 */
function runFile(file, { node, modules }) {
  const register = join(ROOT, "scripts", "arm64", "register.mjs");
  const args = ["-L", LIBRARIES, node, "--import", register, file];
  const result = spawnSync(QEMU, args, {
    cwd: ROOT,
    env: { ...process.env, NODE_PATH: modules },
    encoding: "utf8",
    timeout: TIMEOUT_MS,
  });
  const output = `${result.stdout}${result.stderr}`;
  const count = (/** @type {string} */ word) =>
    Number(new RegExp(`^# ${word} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  const failed = count("fail") + count("cancelled");
  return {
    passed: count("pass"),
    skipped: count("skipped"),
    failed: result.status === 0 ? failed : Math.max(1, failed),
    output,
  };
}
