import { createPublicKey } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import { keepFile, publicKeyIn } from "./member-files.ts";

async function keyPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-member-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "node-key.pem");
}

test("a key is made once, for its user alone", async () => {
  const path = await keyPath();
  const publicKey = await publicKeyIn(path);
  expect(createPublicKey(publicKey).asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
  expect(await publicKeyIn(path)).toBe(publicKey);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each(["", "nonsense"])(
  "a file that holds %j is named, with what to do, and stays",
  async (text) => {
    const path = await keyPath();
    writeFileSync(path, text);
    const refusal = await publicKeyIn(path).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(CoreError);
    expect(refusal).toMatchObject({
      code: "ERR_STATE_INVALID",
      message: `${path}: it holds no private key in PEM form; put the key back from a copy, or remove the file to have another made`,
      cause: expect.any(Error),
    });
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

test("what can not be read or written is told with its path", async () => {
  const path = await keyPath();
  mkdirSync(path);
  await expect(publicKeyIn(path)).rejects.toMatchObject({
    code: "ERR_STATE_UNREADABLE",
    message: expect.stringContaining(`${path} can not be read: it is a folder`),
  });
  await expect(keepFile(path, "text")).rejects.toMatchObject({
    code: "ERR_STATE_UNREADABLE",
    message: expect.stringContaining(`${path} can not be written: `),
  });
});
