import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { systemSysctl } from "./sysctl.ts";

describe("settings of the kernel", requires("linux"), () => {
  test("are read by their names, and undefined where there is none", async () => {
    expect(await systemSysctl.read("kernel.ostype")).toBe("Linux");
    expect(await systemSysctl.read("kernel.no-such-thing")).toBeUndefined();
  });

  test("are left alone where they are right", async () => {
    expect(await systemSysctl.ensure("kernel.ostype", "Linux")).toBe(false);
  });

  test("that can not be set are an error with the name and the value", async () => {
    await expect(systemSysctl.ensure("kernel.ostype", "Other")).rejects.toMatchObject({
      code: "ERR_SYSTEM_CALL",
      message: expect.stringContaining("sysctl kernel.ostype: can not be set to Other"),
    });
  });
});
