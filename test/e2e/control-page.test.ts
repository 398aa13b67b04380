import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { startUp } from "./cli-instance.ts";

const run = promisify(execFile);
const BROWSER = "chromium-headless-shell";
/** Its own clock runs so far before it prints what the page has become. */
const PAGE_MS = 4000;

/** The page as it stands in a real browser, after its scripts have run. */
async function seenAt(url: string): Promise<string> {
  const { stdout } = await run(
    BROWSER,
    ["--no-sandbox", "--disable-gpu", `--virtual-time-budget=${PAGE_MS}`, "--dump-dom", url],
    { maxBuffer: 16_777_216 },
  );
  return stdout;
}

test("the page of the API in a browser: operations to try, and a picture of what runs", {
  ...requires(BROWSER),
  timeout: 120_000,
}, async () => {
  const { run: portolan, until } = await startUp();
  const server = await startNamedServer("one");
  const port = await freePort();
  const stdin = `
add server-group shop period 100 up 1
add server till to server-group shop address 127.0.0.1:${server.port}
add upstream shop
add server-group shop to upstream shop
add tcp-lb door address 127.0.0.1:${port} upstream shop
`;
  expect(await portolan(["console"], { stdin })).toMatchObject({ code: 0 });
  const { controllers } = await until(({ groups }) =>
    groups.some(({ servers }) => servers.some(({ health }) => health === "up")),
  );
  const { address } = controllers.find(({ type }) => type === "http-controller") ?? {};
  const reference = await seenAt(`http://${address}/`);
  expect(reference).toContain("/api/v1/module/tcp-lb");
  expect(reference).toContain("A load balancer for TCP connections");
  const live = await seenAt(`http://${address}/#live`);
  expect(live).toMatch(new RegExp(`door\\s+127\\.0\\.0\\.1:${port}`));
  expect(live).toMatch(new RegExp(`till\\s+127\\.0\\.0\\.1:${server.port}`));
  expect(live).toMatch(/1 of 1/);
});
