import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort, startNamedServer } from "../../../test/support/named-server.ts";
import { type Serving, serve } from "./serve.ts";
import type { StateDescription } from "./state-description.ts";

async function served(description: StateDescription): Promise<Serving> {
  const options = { provider: "node", drainTimeoutMs: 100 } as const;
  const serving = await serve(description, options);
  onTestFinished(() => serving.close());
  return serving;
}

async function nameAt(port: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const [bytes] = await once(socket, "data");
  socket.destroy();
  return String(bytes).trim();
}

function web(listen: string, ...ports: readonly number[]): StateDescription {
  const servers = ports.map((port) => `127.0.0.1:${port}`);
  return { services: { web: { listen, servers, healthCheck: "none" } } };
}

test("serves what is described, then what is described anew", async () => {
  const [a, b] = [await startNamedServer("a"), await startNamedServer("b")];
  const [first, second] = [await freePort(), await freePort()];
  const serving = await served(web(`127.0.0.1:${first}`, a.port));
  expect(await nameAt(first)).toBe("a");
  await serving.update(web(`127.0.0.1:${first}`, b.port));
  expect(await nameAt(first)).toBe("b");
  await serving.update(web(`127.0.0.1:${second}`, b.port));
  expect(await nameAt(second)).toBe("b");
  await expect(nameAt(first)).rejects.toThrow("ECONNREFUSED");
  expect(serving.status().summary).toBe("1 listeners, 1 servers");
  expect(serving.metrics().length).toBeGreaterThan(0);
});

test("a wrong description changes nothing", async () => {
  const a = await startNamedServer("a");
  const port = await freePort();
  const serving = await served(web(`127.0.0.1:${port}`, a.port));
  await expect(serving.update(web("nowhere", a.port))).rejects.toMatchObject({
    code: "ERR_STATE_INVALID",
  });
  expect(await nameAt(port)).toBe("a");
});

test.each([undefined, null, 5, "web", []])("%j describes nothing, and is refused", async (none) => {
  // As a program without types calls it.
  const refused: unknown = await Reflect.apply(serve, undefined, [none]).catch(
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({
    code: "ERR_STATE_INVALID",
    message: expect.stringContaining("expected an object"),
  });
});

test("a wrong option is named", async () => {
  await expect(serve({}, { loops: 0 })).rejects.toThrow(/^loops: 0 is not valid; expected /);
  // As a program without types calls it.
  const asked = Reflect.apply(serve, undefined, [{}, { stayAwake: "on" }]);
  await expect(asked).rejects.toThrow(/^stayAwake: "on" is not valid; expected /);
  for (const drainTimeoutMs of [-1, 0.5, Number.NaN, 1e12]) {
    await expect(serve({}, { drainTimeoutMs })).rejects.toMatchObject({
      code: "ERR_CONFIG_INVALID",
      problems: [{ path: ["drainTimeoutMs"], expected: "whole milliseconds, a day at most" }],
    });
  }
});

test.each([
  [{ stayawake: "off" }, 'stayawake: unknown key; expected "stayAwake"'],
  ["off", 'the options are "off"; expected an object with some of loops, provider'],
  [null, "the options are null; expected an object"],
  [[1], "the options are [1]; expected an object"],
])("%j are no options, and refused", async (none, message) => {
  // As a program without types calls it.
  const refused: unknown = await Reflect.apply(serve, undefined, [{}, none]).catch(
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringContaining(message),
  });
});

test("an address that is taken is told, at the start and later", async () => {
  const a = await startNamedServer("a");
  const taken = `127.0.0.1:${a.port}`;
  await expect(serve(web(taken, a.port), { provider: "node" })).rejects.toThrow(taken);
  const port = await freePort();
  const serving = await served(web(`127.0.0.1:${port}`, a.port));
  await expect(serving.update(web(taken, a.port))).rejects.toThrow(taken);
  await serving.update(web(`127.0.0.1:${port}`, a.port));
  expect(await nameAt(port)).toBe("a");
});
