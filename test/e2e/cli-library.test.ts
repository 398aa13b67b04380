import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const LIBRARY = new URL("../../dist/index.js", import.meta.url);
const run = promisify(execFile);

/** A program that does no more than import the library; it must end by itself. */
async function program(code: string): Promise<string> {
  const source = `const portolan = await import(${JSON.stringify(LIBRARY.href)}); ${code}`;
  const args = ["--input-type=module", "--eval", source];
  const { stdout } = await run(process.execPath, args, { timeout: 20_000 });
  return stdout;
}

test("importing the library starts nothing: the program ends by itself, with no handle open", async () => {
  const atTheEnd = `process.once("beforeExit", () => {
    process.stdout.write(JSON.stringify(process.getActiveResourcesInfo()));
  });`;
  const args = ["--input-type=module", "--eval", atTheEnd];
  const { stdout: idle } = await run(process.execPath, args);
  expect(await program(atTheEnd)).toEqual(idle);
});

test("the library is enough to read a state and follow it", async () => {
  const file = fileURLToPath(new URL("../../examples/quickstart.yaml", import.meta.url));
  const stdout = await program(`
    const { GlobalStore, NodeWatcher, loadState } = portolan;
    const store = new GlobalStore();
    const { objects } = await loadState(${JSON.stringify(file)});
    store.transact("me", (transaction) => transaction.replaceAll(objects));
    store.markSynced("me");
    const ops = await new NodeWatcher(store, "node-a").next();
    process.stdout.write(ops.map((op) => op.op).join(" "));
  `);
  expect(stdout).toMatch(/^reset set .* sync$/);
});
