import { expect, test } from "vitest";
import type { Exec, ExecOptions } from "../../platform/linux/exec.ts";
import { createExecCredentials, type ExecPlugin } from "./exec-credentials.ts";

const API = "client.authentication.k8s.io/v1";
const PLUGIN: ExecPlugin = {
  apiVersion: API,
  command: "give-token",
  args: ["--cluster", "a"],
  env: { REGION: "eu" },
  installHint: "install give-token from there",
  cluster: { server: "https://a" },
};

/** A program whose answers the test gives, and the calls that it got. */
function programOf(...answers: readonly unknown[]) {
  const calls: { readonly args: readonly string[]; readonly env: ExecOptions["env"] }[] = [];
  const exec: Exec = {
    run: async (_program, args, options) => {
      calls.push({ args, env: options?.env });
      const answer = answers[calls.length - 1];
      const isText = typeof answer === "string";
      const stdout = isText ? answer : JSON.stringify(answer);
      return { exitCode: answer === undefined ? 1 : 0, stdout, stderr: "no luck" };
    },
  };
  return { exec, calls };
}

const answer = (status: object, apiVersion = API) => ({
  kind: "ExecCredential",
  apiVersion,
  status,
});

test("runs the program once, and again when its answer ends or is refused", async () => {
  const { exec, calls } = programOf(
    answer({ token: "one", expirationTimestamp: "1970-01-01T01:00:00Z" }),
    answer({ token: "two" }),
    answer({ clientCertificateData: "C", clientKeyData: "K" }),
  );
  let nowMs = 0;
  const credentials = createExecCredentials(PLUGIN, {
    exec,
    environment: { HOME: "/home/a", GONE: undefined },
    nowMs: () => nowMs,
  });
  const both = await Promise.all([credentials.read(), credentials.read()]);
  expect(both).toEqual([{ authorization: "Bearer one" }, { authorization: "Bearer one" }]);
  expect(calls).toHaveLength(1);
  expect(calls[0]?.args).toEqual(["--cluster", "a"]);
  expect(calls[0]?.env).toMatchObject({ HOME: "/home/a", REGION: "eu" });
  expect(JSON.parse(calls[0]?.env?.["KUBERNETES_EXEC_INFO"] ?? "")).toEqual({
    kind: "ExecCredential",
    apiVersion: API,
    spec: { interactive: false, cluster: { server: "https://a" } },
  });

  nowMs = 3_599_000;
  expect(await credentials.read()).toEqual({ authorization: "Bearer two" });
  expect(await credentials.read()).toEqual({ authorization: "Bearer two" });
  credentials.refused();
  expect(await credentials.read()).toEqual({ cert: "C", key: "K" });
  expect(calls).toHaveLength(3);
});

test.each([
  ["an end with an error", undefined, "install give-token from there"],
  ["no JSON", "hello", "answer of give-token"],
  ["no credentials", answer({}), "gave no credentials"],
  ["another version", answer({ token: "t" }, "v0"), `expected ${API}`],
])("refuses %s", async (_, given, message) => {
  const { exec } = programOf(given);
  const credentials = createExecCredentials(PLUGIN, { exec, environment: {}, nowMs: () => 0 });
  await expect(credentials.read()).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringContaining(message),
  });
});
