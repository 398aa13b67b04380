import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { runCli, startCli } from "../support/cli.ts";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";

const run = promisify(execFile);

function usersFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "users");
  writeFileSync(path, text);
  return path;
}

async function startWeb(): Promise<number> {
  const server = createServer((_request, response) => response.end("in"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function curl(port: number, user: string, url: string): Promise<string> {
  const args = ["--silent", "--max-time", "5", "--socks5-hostname", `127.0.0.1:${port}`];
  const outcome = run("curl", [...args, "--proxy-user", user, url]);
  return outcome.then(
    ({ stdout }) => stdout,
    () => "refused",
  );
}

test("users of a file, which is read again when it changes", requires("curl"), async () => {
  const users = usersFile("# ours\nann:one\n");
  const port = await freePort();
  const url = `http://127.0.0.1:${await startWeb()}/`;
  const socks = ["--socks5", "--allow-others", "--socks5-users", users];
  const cli = startCli(["lb", "--listen", String(port), ...socks]);
  await cli.waitFor(/"msg":"serving /, "stderr");
  expect(await curl(port, "ann:one", url)).toBe("in");
  expect(await curl(port, "bob:two", url)).toBe("refused");
  writeFileSync(users, "ann:one\nbob:two\n");
  await expect.poll(() => curl(port, "bob:two", url), { timeout: 10_000 }).toBe("in");
  writeFileSync(users, "bob\n");
  await cli.waitFor(/usersFile .*users: line 1: expected name:password/, "stderr");
  expect(await curl(port, "bob:two", url)).toBe("in");
  expect(cli.stderr).not.toContain("bob:two");
});

test("a file that can not be used is named, with exit code 3", async () => {
  const users = usersFile("nobody\n");
  const socks = ["--socks5", "--allow-others", "--socks5-users", users];
  const { code, stderr } = await runCli(["lb", "--listen", "1080", ...socks]);
  expect(code).toBe(3);
  expect(stderr).toContain(`portolan: --socks5-users: ${users}: line 1: expected name:password`);
});
