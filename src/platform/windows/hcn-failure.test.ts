import { expect, test } from "vitest";
import { failureOf, HRESULT, hcnError, isNotFound } from "./hcn-failure.ts";

test("an error names call, object, number, what it means, and what HCN said", () => {
  const record = JSON.stringify({ Success: false, Error: "The port is taken.", ErrorCode: 1 });
  const error = hcnError("HcnCreateLoadBalancer", HRESULT.portExists | 0, {
    record,
    subject: "a-b",
  });
  expect(error.code).toBe("ERR_SYSTEM_CALL");
  expect(error.message).toBe(
    "HcnCreateLoadBalancer of a-b failed: 0x803b0013 (port-exists): The port is taken.",
  );
  expect(failureOf(error)).toMatchObject({ call: "HcnCreateLoadBalancer", record });
});

test.each([
  ["accessDenied", "access-denied", "run it as an administrator"],
  ["serverUnavailable", "service-down", "Start-Service hns"],
  ["managerStopped", "service-down", "it is tried again"],
] as const)("%s is told with what to do", (name, kind, remedy) => {
  const error = hcnError("HNSCall", HRESULT[name]);
  expect(failureOf(error)?.kind).toBe(kind);
  expect(error.message).toContain(remedy);
});

test("an object that is not there is told from one that it refers to", () => {
  const endpointGone = hcnError("HcnModifyLoadBalancer", HRESULT.endpointNotFound);
  expect(isNotFound(endpointGone, "Endpoint")).toBe(true);
  expect(isNotFound(endpointGone, "LoadBalancer")).toBe(false);
  expect(isNotFound(hcnError("HcnOpenLoadBalancer", HRESULT.policyNotFound), "LoadBalancer")).toBe(
    true,
  );
  expect(isNotFound(new Error("x"), "Endpoint")).toBe(false);
  expect(failureOf(hcnError("HcnOpenNetwork", 0x80004005))?.kind).toBe("other");
  expect(hcnError("HcnOpenNetwork", 0x80004005, { record: " no JSON " }).message).toMatch(
    /: no JSON$/,
  );
});
