import { expect, test } from "vitest";
import { requires } from "../../test/support/requires.ts";
import { checkLbTls } from "./check-lb-tls.ts";

test("TLS is possible on Linux by default", requires("linux"), async () => {
  await expect(checkLbTls("auto")).resolves.toBeUndefined();
});

test.each([
  ["node", { platform: "linux", arch: "x64" }, "--provider is node"],
  ["auto", { platform: "darwin", arch: "arm64" }, "this is darwin"],
])("provider %s on %o is refused, with what to do", async (provider, machine, reason) => {
  const refusal = checkLbTls(provider, "--tls-cert", machine);
  await expect(refusal).rejects.toMatchObject({ code: "ERR_NOT_POSSIBLE_HERE" });
  await expect(refusal).rejects.toThrow(/^--tls-cert: .*run it there, or have TLS end before it$/);
  await expect(refusal).rejects.toThrow(reason);
});
