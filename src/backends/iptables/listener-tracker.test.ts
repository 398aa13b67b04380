import { expect, test } from "vitest";
import { type Listener, listenerSchema } from "../../core/model/listener.ts";
import { type SecurityGroup, securityGroupSchema } from "../../core/model/security-group.ts";
import { ListenerTracker } from "./listener-tracker.ts";

function listener(name: string, more: object = {}): Listener {
  return listenerSchema.parse({
    kind: "Listener",
    name,
    address: "192.0.2.1",
    port: 80,
    service: `default/${name}`,
    ...more,
  });
}

function group(defaultAccess: SecurityGroup["defaultAccess"]): SecurityGroup {
  return securityGroupSchema.parse({ kind: "SecurityGroup", name: "office", defaultAccess });
}

const OFFICE = "default/office";

test("a service changes with the security group of its listener: when that comes, changes and goes", () => {
  const tracker = new ListenerTracker("here");
  tracker.listeners.set("default/web", listener("web", { securityGroup: OFFICE }));
  tracker.listeners.set("default/open", listener("open"));
  expect(tracker.takeChanged()).toEqual(["default/web", "default/open"]);
  const steps = [
    () => tracker.securityGroups.set(OFFICE, group("allow")),
    () => tracker.securityGroups.set(OFFICE, group("deny")),
    () => tracker.securityGroups.delete(OFFICE),
  ];
  for (const step of steps) {
    step();
    expect(tracker.takeChanged()).toEqual(["default/web"]);
    expect(tracker.takeChanged()).toEqual([]);
  }
  expect(tracker.plansFor("default/web").securityGroups.size).toBe(0);
});

test("a listener that moves from one service to another changes both", () => {
  const tracker = new ListenerTracker("here");
  tracker.listeners.set("default/web", listener("web"));
  tracker.takeChanged();
  tracker.listeners.set("default/web", listener("web", { service: "default/other" }));
  expect(tracker.takeChanged()).toEqual(["default/web", "default/other"]);
  expect([...tracker.services()]).toEqual(["default/other"]);
  expect(tracker.plansFor("default/web").listeners).toEqual([]);
  tracker.listeners.delete("default/web");
  expect(tracker.takeChanged()).toEqual(["default/other"]);
});

test("a listener of another node is none, also where it was one of this node", () => {
  const tracker = new ListenerTracker("here");
  tracker.listeners.set("default/web", listener("web", { node: "there" }));
  expect(tracker.takeChanged()).toEqual([]);
  tracker.listeners.set("default/web", listener("web", { node: "here" }));
  expect(tracker.takeChanged()).toEqual(["default/web"]);
  tracker.listeners.set("default/web", listener("web", { node: "there" }));
  expect(tracker.takeChanged()).toEqual(["default/web"]);
  expect([...tracker.services()]).toEqual([]);
});
