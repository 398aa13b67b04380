import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import type { ModelObject } from "../../../core/model/object.ts";
import { createFullStateSink } from "../../../core/sinks/fullstate.ts";
import { execChecked, systemExec } from "../../../platform/linux/exec.ts";
import { NetworkNamespace } from "../../../platform/linux/network-namespace.ts";
import { openNftElements } from "../../../platform/linux/nft/nft-elements.ts";
import { KERNEL_SETS } from "../../kernel-options.ts";
import { planSettingsOf } from "../plan-settings.ts";
import { endpoint, Feed, NODE, NODE_NAME, optionsOf, service } from "../samples.fixture.ts";
import { elementMessages } from "./element-messages.ts";
import { Planner } from "./planner.ts";

/** A planner that is told states; the kernel is taken to follow. */
class Plans {
  readonly planner = new Planner(planSettingsOf(optionsOf(), NODE_NAME));
  readonly #feed = new Feed(
    createFullStateSink({
      waitRequest: () => ({ nodeName: NODE_NAME, sets: KERNEL_SETS }),
      apply: (state, changed) => this.planner.update(state, changed),
    }),
  );

  async tell(...objects: readonly ModelObject[]): Promise<void> {
    await this.#feed.apply(NODE, ...objects);
  }

  /** What is told before is there. */
  async start(...objects: readonly ModelObject[]): Promise<string> {
    await this.tell(...objects);
    const script = this.planner.tables.map((table) => table.fullScript(undefined)).join("");
    for (const table of this.planner.tables) table.commitFull();
    return script;
  }

  messages(): ReturnType<typeof elementMessages> {
    return elementMessages(this.planner.tables);
  }

  script(): string {
    return this.planner.tables.map((table) => table.changesScript()).join("");
  }
}

const shapes = (plans: Plans) =>
  plans
    .messages()
    ?.map(({ verb, family, container, elements }) => [verb, family, container, elements.count]);

test("nothing that changed is no message", async () => {
  const plans = new Plans();
  await plans.start(service(), endpoint(1));
  expect(plans.messages()).toEqual([]);
});

test("an endpoint that takes the place of another is an element that goes and one that comes", async () => {
  const plans = new Plans();
  await plans.start(service(), endpoint(1), endpoint(2));
  await plans.tell(service(), endpoint(1), endpoint(3));
  expect(shapes(plans)).toEqual([
    ["delete", "v4", "endpoints", 1],
    ["add", "v4", "endpoints", 1],
  ]);
});

test("chains that come or go are for nft", async () => {
  const plans = new Plans();
  await plans.start(service(), endpoint(1));
  await plans.tell(service(), endpoint(1), endpoint(2));
  expect(plans.messages()).toBeUndefined();
  for (const table of plans.planner.tables) table.commit();
  // The chain for one endpoint waits to be deleted.
  await plans.tell(service(), endpoint(1), endpoint(3));
  expect(plans.messages()).toBeUndefined();
});

test("networks are for nft", async () => {
  const ranged = (...sourceRanges: readonly string[]) =>
    service({ loadBalancerIPs: ["203.0.113.1"], sourceRanges });
  const plans = new Plans();
  await plans.start(ranged("192.0.2.0/24"), endpoint(1));
  await plans.tell(ranged("198.51.100.0/24"), endpoint(1));
  expect(plans.script()).toContain("198.51.100.0/24");
  expect(plans.messages()).toBeUndefined();
});

test("a new table is filled before any packet meets it", async () => {
  const plans = new Plans();
  await plans.tell(service(), endpoint(1));
  for (const table of plans.planner.tables) {
    expect(table.unmetScript([])).toMatch(/^add map /m);
    expect(table.unmetScript([])).not.toMatch(/ hook |^add rule /m);
    expect(table.meetingScript()).toMatch(/ hook prerouting /);
    expect(table.meetingScript()).toMatch(/^add rule /m);
  }
});

/** Services of one endpoint each, at the addresses that `hostOf` gives. */
function many(count: number, hostOf: (index: number) => string): readonly ModelObject[] {
  return Array.from({ length: count }, (_, index) => index).flatMap((index) => {
    const group = `s-${index}`;
    return [
      service({ name: group, clusterIPs: [`10.96.${index >> 8}.${index & 255}`] }),
      endpoint(index, { group, addresses: [hostOf(index)] }),
    ];
  });
}

test("many elements are several messages", async () => {
  const before = (index: number) => `10.2.${index >> 8}.${index & 255}`;
  const after = (index: number) => `10.3.${index >> 8}.${index & 255}`;
  const plans = new Plans();
  await plans.start(...many(300, before));
  await plans.tell(...many(300, (index) => (index < 256 ? after(index) : before(index))));
  expect(shapes(plans)?.map(([verb, , , count]) => [verb, count])).toEqual([
    ["delete", 128],
    ["delete", 128],
    ["add", 128],
    ["add", 128],
  ]);
});

describe("in the kernel", requires("linux", "root", "nft"), () => {
  const dual = service({
    name: "dual",
    clusterIPs: ["10.96.0.2", "fd00:96::2"],
    externalIPs: ["203.0.113.2", "2001:db8::2"],
    ports: [
      { name: "dns", protocol: "UDP", port: 53, targetPort: 5353 },
      { name: "sctp", protocol: "SCTP", port: 54, targetPort: 5454 },
    ],
    internalTrafficPolicy: "Local",
  });
  const dualEndpoint = (number: number, more: Readonly<Record<string, unknown>> = {}) =>
    endpoint(number, {
      name: `dual-${number}`,
      group: "dual",
      addresses: [`10.1.0.${number}`, `fd00:1::${number}`],
      node: NODE_NAME,
      ...more,
    });
  const sticky = service({ name: "sticky", clusterIPs: ["10.96.0.3"], affinitySeconds: 600 });
  const stickyEndpoint = (number: number) =>
    endpoint(number, { name: `sticky-${number}`, group: "sticky" });
  // They keep the chains for up to three endpoints, so that only elements change.
  const keepers = [service(), dual, sticky].flatMap((like, kind) =>
    [1, 2, 3].flatMap((count) => {
      const name = `keep-${kind}-${count}`;
      const host = 100 + 10 * kind + count;
      const isDual = like === dual;
      return [
        service({
          ...like,
          name,
          clusterIPs: [`10.96.0.${host}`, ...(isDual ? [`fd00:96::${host}`] : [])],
          externalIPs: isDual ? [`203.0.113.${host}`, `2001:db8::${host}`] : [],
        }),
        ...[1, 2, 3]
          .slice(0, count)
          .map((n) => dualEndpoint(10 + n, { name: `${name}-${n}`, group: name })),
      ];
    }),
  );
  const steps: readonly (readonly ModelObject[])[] = [
    [service(), endpoint(1), endpoint(2), dual, dualEndpoint(1), sticky, stickyEndpoint(1)],
    [service(), endpoint(3), endpoint(2), dual, dualEndpoint(2), sticky, stickyEndpoint(2)],
    [service(), endpoint(3), endpoint(2), endpoint(1), dual, sticky],
    [service({ ports: [{ port: 81, targetPort: 9090 }] }), endpoint(3), sticky, stickyEndpoint(1)],
    [service(), dual, dualEndpoint(1), dualEndpoint(2, { node: "there" })],
    [],
  ];

  test("messages leave the tables as the text for nft does, in all that nft lists", async () => {
    const [byText, byMessages] = [NetworkNamespace.create(), NetworkNamespace.create()];
    const elements = byMessages.run(openNftElements);
    onTestFinished(() => {
      elements.close();
      byText.close();
      byMessages.close();
    });
    const nft = async (namespace: NetworkNamespace, args: readonly string[], stdin = "") => {
      const run = () => execChecked(systemExec, "nft", args, { stdin });
      return (await namespace.run(run)).stdout;
    };
    const listing = async (namespace: NetworkNamespace) =>
      (await nft(namespace, ["list", "ruleset"]))
        .split(/\n|, ?/)
        .map((line) => line.trim())
        .sort();

    const plans = new Plans();
    const first = await plans.start(...keepers);
    for (const namespace of [byText, byMessages]) await nft(namespace, ["-f", "-"], first);
    const isSent: boolean[] = [];
    for (const step of steps) {
      await plans.tell(...keepers, ...step);
      const messages = plans.messages();
      const script = plans.script();
      await nft(byText, ["-f", "-"], script);
      if (messages === undefined) await nft(byMessages, ["-f", "-"], script);
      else expect(await elements.run(messages)).toEqual({ kind: "applied" });
      isSent.push(messages !== undefined);
      for (const table of plans.planner.tables) table.commit();
      expect(await listing(byMessages)).toEqual(await listing(byText));
    }
    expect(isSent).toEqual(steps.map(() => true));
  });
});
