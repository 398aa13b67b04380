import { expect, test } from "vitest";
import { directSettingOf } from "./direct-setting.ts";

const WORKLOADS = "/sys/fs/cgroup/kubepods.slice";
const GIVEN = {
  directConnect: "auto",
  directConnectCgroup: undefined,
  directConnectWorkloads: WORKLOADS,
  masqueradeAll: false,
} as const;

test("workloads are led where their cgroup is named", () => {
  expect(directSettingOf(GIVEN)).toEqual({
    mode: "auto",
    cgroups: { node: undefined, workloads: WORKLOADS },
  });
  const unnamed = { ...GIVEN, directConnectWorkloads: undefined, masqueradeAll: true };
  expect(directSettingOf(unnamed).cgroups.workloads).toBeUndefined();
});

test("workloads that have to be masqueraded are not led", () => {
  expect(() => directSettingOf({ ...GIVEN, masqueradeAll: true })).toThrow(
    expect.objectContaining({
      code: "ERR_USAGE",
      message: expect.stringContaining("not together with --masquerade-all"),
    }),
  );
});

test("where nobody is led, nothing is refused", () => {
  const all = { ...GIVEN, masqueradeAll: true };
  expect(directSettingOf({ ...all, directConnect: "off" }).mode).toBe("off");
  expect(directSettingOf(all, { isForCleanup: true }).mode).toBe("off");
});
