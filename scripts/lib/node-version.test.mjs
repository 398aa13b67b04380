import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { checkNodeVersion } from "./node-version.mjs";

test.each(["20.19.0", "20.20.2", "22.0.0", "24.1.0"])("takes Node %s", (version) => {
  expect(() => checkNodeVersion(version)).not.toThrow();
});

test.each(["18.20.0", "20.18.9", "8.0.0"])("refuses Node %s with what is needed", (version) => {
  expect(() => checkNodeVersion(version)).toThrow(/needs 20\.19 or newer/);
});

test("asks for what package.json asks for", () => {
  expect(packageJson.engines.node).toBe(">=20.19");
});
