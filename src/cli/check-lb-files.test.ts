import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkLbFiles } from "./check-lb-files.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-"));
afterAll(() => rmSync(folder, { recursive: true }));

const NOTHING = { socks5Users: undefined, tlsCert: [], tlsKey: [], tlsClientCa: undefined };

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("what is not asked for is not looked at", async () => {
  await expect(checkLbFiles(NOTHING)).resolves.toBeUndefined();
});

test.each([
  ["--socks5-users", { socks5Users: "/nope" }, /^--socks5-users: \/nope: ENOENT/],
  ["--tls-cert", { tlsCert: ["/nope"], tlsKey: ["/nope"] }, /^--tls-cert: \/nope: ENOENT/],
  ["--tls-client-ca", { tlsClientCa: "/nope" }, /^--tls-client-ca: \/nope: ENOENT/],
])("a missing file is refused by %s", async (_flag, values, message) => {
  await expect(checkLbFiles({ ...NOTHING, ...values })).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringMatching(message),
  });
});

test("a file that is no certificate is refused by name", async () => {
  const path = fileOf("cert.pem", "nothing");
  await expect(checkLbFiles({ ...NOTHING, tlsCert: [path], tlsKey: [path] })).rejects.toThrow(
    `--tls-cert: ${path}: no certificate in PEM form`,
  );
});
