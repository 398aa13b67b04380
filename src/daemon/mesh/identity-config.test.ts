import { expect, test } from "vitest";
import { resolveIdentity } from "./identity-config.ts";

const NONE = {
  announceTtl: 15_000,
  identityFrom: undefined,
  identityService: undefined,
  identityTokenFile: undefined,
};
const ALL = {
  ...NONE,
  identityFrom: { kind: "tcp", host: "10.0.0.1", port: 12_090 } as const,
  identityService: "shop",
  identityTokenFile: "/run/token",
};

test("it is whole, or not there", () => {
  expect(resolveIdentity(NONE, "/state")).toBeUndefined();
  expect(resolveIdentity(ALL, "/state")).toMatchObject({
    service: "default/shop",
    tokenFile: "/run/token",
    files: { folder: "/state/identity" },
  });
  expect(resolveIdentity({ ...ALL, identityService: "prod/shop" }, "/state")?.service).toBe(
    "prod/shop",
  );
});

test.each(["identityFrom", "identityService", "identityTokenFile"] as const)(
  "without %s it is refused with what is missing",
  (name) => {
    expect(() => resolveIdentity({ ...ALL, [name]: undefined }, "/state")).toThrow(
      "all of --identity-from, --identity-service and --identity-token-file",
    );
  },
);

test("without a state folder there is nowhere to keep it", () => {
  expect(() => resolveIdentity(ALL, undefined)).toThrow("portolan up");
});
