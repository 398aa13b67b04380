import { expect, test } from "vitest";
import { parseOwnCgroup } from "./traffic-cgroup.ts";

test("reads the cgroup of version 2 beside those of version 1", () => {
  expect(parseOwnCgroup("9:name=systemd:/a\n4:memory:/b\n0::/user.slice/c:d\n")).toBe(
    "/user.slice/c:d",
  );
  expect(parseOwnCgroup("0::/\n")).toBe("/");
  expect(() => parseOwnCgroup("4:memory:/b\n")).toThrow("no cgroup of version 2");
});
