import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../test/support/requires.ts";
import { join, Namespace } from "./namespaces.ts";

function created(): Namespace {
  const namespace = Namespace.create();
  onTestFinished(() => namespace.remove());
  return namespace;
}

const MINUTE_MS = 60_000;

describe("a namespace of a benchmark", requires("linux", "root", "ip"), () => {
  test("has no name that could be left behind, and a cable to another", () => {
    const [one, other] = [created(), created()];
    expect(one.run("ip", "netns", "identify")).toBe("\n");
    const { far } = join(one, other, { number: 1 });
    expect(other.run("ip", "-brief", "address")).toContain(far);
    expect(one.run("ip", "route")).toContain(`default via ${far}`);
  });

  test("paces nothing, whatever the machine does", () => {
    const asked = ["-n", "net.ipv4.tcp_congestion_control"];
    expect(created().run("sysctl", ...asked)).toBe("reno\n");
  });

  test("what takes longer than it may is cut", async () => {
    const namespace = created();
    expect(await namespace.timeWithin(1, "sleep", ["1000"])).toBeUndefined();
    expect(await namespace.timeWithin(MINUTE_MS, "true", [])).toBeGreaterThan(0);
    await expect(namespace.timeWithin(MINUTE_MS, "false", [])).rejects.toThrow("false  failed");
  });
});
