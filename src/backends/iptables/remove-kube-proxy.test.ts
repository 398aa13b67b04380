import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { Exec, ExecResult } from "../../platform/linux/exec.ts";
import { removeKubeProxy } from "./remove-kube-proxy.ts";

const DONE: ExecResult = { exitCode: 0, stdout: "", stderr: "" };

/** Tools that find nothing to remove, with an nft that does so. */
function withNft(nft: (family: string) => ExecResult | Error): { exec: Exec; deleted: string[] } {
  const deleted: string[] = [];
  const exec: Exec = {
    run: async (program, args) => {
      if (program !== "nft") return DONE;
      const [, , family = "", table = ""] = args;
      deleted.push(`${family} ${table}`);
      const answer = nft(family);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { exec, deleted };
}

const refused = (stderr: string): ExecResult => ({ exitCode: 1, stdout: "", stderr });

test("its tables of nftables go", async () => {
  const { exec, deleted } = withNft(() => DONE);
  await removeKubeProxy(exec);
  expect(deleted).toEqual(["ip kube-proxy", "ip6 kube-proxy"]);
});

test.each([
  ["table", refused("Error: Could not process rule: No such file or directory")],
  ["nft", new CoreError("ERR_NOT_POSSIBLE_HERE", "nft: there is no such program; install it")],
])("without a %s there is nothing to remove", async (_, answer) => {
  await expect(removeKubeProxy(withNft(() => answer).exec)).resolves.toBeUndefined();
});

test("what can not be removed is told, and does not hold up the rest", async () => {
  const denied = refused("Operation not permitted (you must be root)");
  const { exec, deleted } = withNft((family) => (family === "ip" ? denied : DONE));
  await expect(removeKubeProxy(exec)).rejects.toMatchObject({
    code: "ERR_PROGRAM_FAILED",
    message: expect.stringContaining("nft delete table ip kube-proxy: ended with exit code 1"),
  });
  expect(deleted).toEqual(["ip kube-proxy", "ip6 kube-proxy"]);
});

test("chains that can not be read are told, and the tables go all the same", async () => {
  const { exec, deleted } = withNft(() => DONE);
  const failing: Exec = {
    run: async (program, args, options) =>
      program === "iptables-nft-save"
        ? refused("Permission denied")
        : exec.run(program, args, options),
  };
  await expect(removeKubeProxy(failing)).rejects.toThrow("iptables-nft-save");
  expect(deleted).toHaveLength(2);
});
