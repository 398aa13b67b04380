import { expect, test } from "vitest";
import { type BalancingMethod, groupSchema } from "../../../core/model/group.ts";
import { serviceSchema } from "../../../core/model/service.ts";
import {
  IP_VS_SVC_F_PERSISTENT,
  IP_VS_SVC_F_SCHED_FALLBACK,
} from "../../../wire/netlink/ipvs/ipvs-words.ts";
import { balancingOf, chooseScheduler } from "./balancing.ts";

function schedulerFor(method: BalancingMethod, annotation?: string): string {
  const annotations = annotation === undefined ? {} : { "portolan/ipvs-scheduler": annotation };
  const service = serviceSchema.parse({ kind: "Service", name: "web", annotations });
  const group = groupSchema.parse({ kind: "Group", name: "web", method });
  return chooseScheduler(service, new Map([["default/web", group]]), "rr").scheduler;
}

test("the annotation decides, then the method of the group, then the operator", () => {
  expect(schedulerFor("least-connections")).toBe("wlc");
  expect(schedulerFor("source-hash")).toBe("sh");
  expect(schedulerFor("weighted-round-robin")).toBe("wrr");
  expect(schedulerFor("random")).toBe("rr");
  expect(schedulerFor("least-connections", "nq")).toBe("nq");
  expect(schedulerFor("least-connections", "fastest")).toBe("rr");
});

test("affinity is persistence, and schedulers that hash fall back to others", () => {
  expect(balancingOf("wrr", 0)).toEqual({ scheduler: "wrr", flags: 0, persistenceSeconds: 0 });
  expect(balancingOf("wrr", 600)).toMatchObject({
    flags: IP_VS_SVC_F_PERSISTENT,
    persistenceSeconds: 600,
  });
  expect(balancingOf("mh", 0).flags).toBe(IP_VS_SVC_F_SCHED_FALLBACK);
});
