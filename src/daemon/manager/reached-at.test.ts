import { expect, test } from "vitest";
import { reachedAt } from "./reached-at.ts";

const any = { kind: "tcp", host: "0.0.0.0", port: 12090 } as const;
const primaryIp = () => "192.0.2.1";

test("nodes reach a manager where it is said, where it listens, by its name, or by its machine's address", () => {
  const told = { kind: "tcp", host: "m.example", port: 443 } as const;
  const names = ["manager.example"];
  expect(reachedAt({ address: told, names }, any, primaryIp)).toBe("m.example:443");
  const one = { ...any, host: "2001:db8::1" };
  expect(reachedAt({ address: undefined, names }, one, primaryIp)).toBe("[2001:db8::1]:12090");
  expect(reachedAt({ address: undefined, names }, any, primaryIp)).toBe("manager.example:12090");
  const all = { ...any, host: "::" };
  expect(reachedAt({ address: undefined, names: [] }, all, primaryIp)).toBe("192.0.2.1:12090");
});

test("who can not be reached says nothing", () => {
  const nameless = { address: undefined, names: [] };
  expect(reachedAt(nameless, any, () => undefined)).toBeUndefined();
  expect(reachedAt(nameless, { kind: "unix", path: "/x" }, primaryIp)).toBeUndefined();
});
