import { expect, test } from "vitest";
import type { Exec, ExecResult } from "../exec.ts";
import { createNft, isDenied, isExists, isNotFound } from "./nft.ts";

const TABLE = { family: "ip", name: "t" } as const;

function answering(answer: Partial<ExecResult>): { exec: Exec; calls: unknown[] } {
  const calls: unknown[] = [];
  const exec: Exec = {
    run: async (program, args, options) => {
      calls.push([program, ...args, options?.stdin]);
      return { exitCode: 0, stdout: "", stderr: "", ...answer };
    },
  };
  return { exec, calls };
}

async function errorOf(stderr: string): Promise<unknown> {
  const { exec } = answering({ exitCode: 1, stderr });
  return createNft(exec)
    .run("x")
    .catch((error: unknown) => error);
}

test("runs a script as one transaction, from standard input", async () => {
  const { exec, calls } = answering({});
  await createNft(exec).run("add table ip t\n");
  await createNft(exec).check("add table ip t\n");
  expect(calls).toEqual([
    ["nft", "-f", "-", "add table ip t\n"],
    ["nft", "-c", "-f", "-", "add table ip t\n"],
  ]);
});

test("tells apart what nft complains about", async () => {
  const exists = await errorOf("Error: Could not process rule: File exists");
  const gone = await errorOf("Error: Could not process rule: No such file or directory");
  const denied = await errorOf("Operation not permitted (you must be root)");
  expect([isExists(exists), isNotFound(exists), isDenied(exists)]).toEqual([true, false, false]);
  expect([isExists(gone), isNotFound(gone), isDenied(gone)]).toEqual([false, true, false]);
  expect([isExists(denied), isNotFound(denied), isDenied(denied)]).toEqual([false, false, true]);
  expect(isExists(new Error("File exists"))).toBe(false);
});

test("a table that is not there is no error, anything else is", async () => {
  const gone = answering({ exitCode: 1, stderr: "Error: No such file or directory" });
  expect(await createNft(gone.exec).list(TABLE)).toBeUndefined();
  const broken = answering({ exitCode: 1, stderr: "Error: netlink" });
  await expect(createNft(broken.exec).list(TABLE)).rejects.toThrow("nft list table ip t: ended");
});

test("is waited for ten seconds only to tell its version", async () => {
  const limits: (number | undefined)[] = [];
  const exec: Exec = {
    run: async (_program, _args, options) => {
      limits.push(options?.timeoutMs);
      return { exitCode: 1, stdout: "", stderr: "broken" };
    },
  };
  await expect(createNft(exec).version()).rejects.toMatchObject({
    code: "ERR_PROGRAM_FAILED",
    message: "nft --version: ended with exit code 1: broken",
  });
  expect(limits).toEqual([10_000]);
});

test("reads its version", async () => {
  const { exec } = answering({ stdout: "nftables v1.0.6 (Lester Gooch #5)\n" });
  expect(await createNft(exec).version()).toBe("1.0.6");
});
