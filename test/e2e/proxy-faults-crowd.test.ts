import { describe, expect, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { freePort } from "../support/named-server.ts";
import { requires } from "../support/requires.ts";
import { dial, echo, readAll, startServer } from "./proxy-fixture.ts";

const CROWD = 5000;

// In a process of its own: client, proxy and server together would need more descriptors than many
// systems let one process have.
describe.each(["posix", "node"])("portolan lb, %s", requires("linux"), (provider) => {
  test("serves 5,000 connections at once", { timeout: 120_000 }, async () => {
    const { port: server } = await startServer(echo);
    const port = await freePort();
    const where = ["--listen", String(port), "--servers", `127.0.0.1:${server}`];
    const cli = startCli(["lb", ...where, "--provider", provider]);
    await cli.waitFor(/"msg":"a server is up"/, "stderr");
    const clients = await Promise.all(Array.from({ length: CROWD }, () => dial(port)));
    // All of them are open, and each is answered, before the first one ends.
    const answers = await Promise.all(
      clients.map(async (client, index) => {
        client.write(`client ${index}`);
        const [bytes] = await new Promise<[Buffer]>((resolve, reject) => {
          client.once("data", (data) => resolve([data]));
          client.once("close", () => reject(new Error(`client ${index} was cut`)));
        });
        return bytes.toString();
      }),
    );
    expect(answers).toEqual(answers.map((_, index) => `client ${index}`));
    await Promise.all(
      clients.map((client) => {
        client.end();
        return readAll(client);
      }),
    );
    expect(await cli.stop()).toMatchObject({ code: 0 });
  });
});
