import { expect, test } from "vitest";
import { parseCgroupMount } from "./cgroup-mount.ts";

test("the mount of version 2 is found beside those of version 1", () => {
  const mounts = [
    "tmpfs /sys/fs/cgroup tmpfs rw 0 0",
    "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0",
    "cgroup2 /sys/fs/cgroup/unified\\040here cgroup2 rw 0 0",
    "",
  ];
  expect(parseCgroupMount(mounts.join("\n"))).toBe("/sys/fs/cgroup/unified here");
  expect(parseCgroupMount("cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n")).toBeUndefined();
});
