import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli, startCli } from "../support/cli.ts";
import { freePort } from "../support/named-server.ts";

async function startOn(path: string, name: string): Promise<Server> {
  const server = createServer((_, response) => response.end(name));
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return server;
}

async function ask(port: number, times: number): Promise<string> {
  const answers: string[] = [];
  for (let count = 0; count < times; count += 1) {
    answers.push(await (await fetch(`http://127.0.0.1:${port}/`)).text());
  }
  return answers.sort().join("");
}

describe.each(["posix", "node"])("with the provider %s", (provider) => {
  test.each(["tcp", "http"])(
    "servers on unix sockets are balanced, checked by %s and counted",
    async (protocol) => {
      const folder = await mkdtemp(join(tmpdir(), "portolan-unix-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const [a, b] = [join(folder, "a.sock"), join(folder, "b.sock")];
      const [first] = [await startOn(a, "a"), await startOn(b, "b")];
      const port = await freePort();
      const web = {
        listen: { address: port, mode: "http" },
        healthCheck: { protocol, interval: "50ms", up: 1, down: 1 },
        servers: [`unix:${a}`, `unix:${b}`, { address: `unix:${a}x`, node: "elsewhere" }],
      };
      const file = join(folder, "state.json");
      await writeFile(file, JSON.stringify({ version: 1, services: { web } }));
      const cli = startCli([
        ...["run", "--from", `file:${file}`, "--to", "userspace", "--node", "here"],
        ...["--state", folder, "--provider", provider, "--loops", "1"],
      ]);
      for (const path of [a, b]) {
        await cli.waitFor(new RegExp(`"address":"${path}".*"msg":"a server is up"`), "stderr");
      }
      expect(await ask(port, 4)).toBe("aabb");
      const { stdout } = await runCli(["status", "--json", "--state", folder]);
      const up = { health: "up", failures: 0 };
      expect(JSON.parse(stdout)).toMatchObject({
        groups: [
          {
            servers: [
              { address: `unix:${a}`, ...up },
              { address: `unix:${a}x`, health: "unused" },
              { address: `unix:${b}`, ...up },
            ],
          },
        ],
      });
      first?.closeAllConnections();
      first?.close();
      await cli.waitFor(new RegExp(`"address":"${a}".*"msg":"a server is down"`), "stderr");
      expect(await ask(port, 2)).toBe("bb");
    },
  );
});
