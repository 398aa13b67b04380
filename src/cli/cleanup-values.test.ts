import { expect, test } from "vitest";
import { EDGE } from "../backends/edge/definition.ts";
import { IPVS } from "../backends/ipvs/definition.ts";
import { cleanupValues } from "./cleanup-values.ts";

test("networks of others are told to the backend that has them, and only to it", () => {
  const flags = { takeOver: true, ipvsExcludeCidrs: ["192.0.2.0/24"] };
  expect(cleanupValues(IPVS.options, flags, {})).toMatchObject(flags);
  expect(cleanupValues(EDGE.options, flags, {})).not.toHaveProperty("ipvsExcludeCidrs");
});

test("other options of a backend are read from the environment, and wrong ones are named", () => {
  const environment = { PORTOLAN_IPVS_STRICT_ARP: "true" };
  expect(cleanupValues(IPVS.options, {}, environment).ipvsStrictArp).toBe(true);
  expect(() => cleanupValues(IPVS.options, {}, { PORTOLAN_IPVS_SCHEDULER: "foo" })).toThrow(
    /PORTOLAN_IPVS_SCHEDULER: "foo" is not valid; expected one of rr/,
  );
});
