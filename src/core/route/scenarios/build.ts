import type { Family } from "../../model/address.ts";
import type { Protocol } from "../../model/common.ts";
import type { ModelObject } from "../../model/object.ts";
import { NOTHING_OBSERVED, type Observed } from "../observed.ts";
import type { RoutePolicy } from "../route-policy.ts";
import {
  type Caller,
  ORIGINS,
  SCENARIO_POLICY,
  sourceOf,
  type Target,
  targetOf,
} from "./caller.ts";
import type { Expected, Scenario, ScenarioNeeds } from "./scenario.ts";
import { objectsFor, type Server, type ServiceSetting } from "./setting.ts";
import { TOPOLOGY } from "./topology.ts";

/** What makes one scenario; what is missing is as in most of them. */
export interface Recipe {
  /** What follows address type, protocol and family in the name. */
  readonly what: readonly string[];
  readonly family: Family;
  readonly service: ServiceSetting;
  readonly servers: readonly Server[];
  readonly caller: Caller;
  readonly expected: Expected;
  /** Objects beside the nodes, the service and its servers. */
  readonly objects?: readonly ModelObject[];
  readonly target?: Partial<Target>;
  readonly src?: string;
  /** Of the packet, where it is not that of the service. */
  readonly protocol?: Protocol;
  readonly policy?: Partial<RoutePolicy>;
  readonly observed?: Observed;
  readonly needs?: Partial<ScenarioNeeds>;
}

export function buildScenario(recipe: Recipe): Scenario {
  const { family, service, caller, expected } = recipe;
  const { type, protocol } = service;
  return {
    name: [type, protocol.toLowerCase(), family, ...recipe.what, `from-${caller}`].join("/"),
    needs: { ...needsOf(recipe), ...recipe.needs },
    objects: [...objectsFor(service, recipe.servers), ...(recipe.objects ?? [])],
    node: TOPOLOGY.node,
    packet: {
      protocol: recipe.protocol ?? protocol,
      src: recipe.src ?? sourceOf(caller, family),
      ...targetOf(type, family),
      ...recipe.target,
      from: ORIGINS[caller],
    },
    policy: { ...SCENARIO_POLICY, ...recipe.policy },
    observed: recipe.observed ?? NOTHING_OBSERVED,
    expected,
  };
}

function needsOf({ service, family, expected }: Recipe): ScenarioNeeds {
  const { type, protocol, sourceRanges, internalTrafficPolicy, externalTrafficPolicy } = service;
  const keepsSource =
    expected.kind === "endpoints" && expected.endpoints.some((one) => !one.masquerade);
  return {
    addressType: type,
    protocol,
    family,
    ...(keepsSource && { keepsSource }),
    ...(sourceRanges !== undefined && { sourceRanges: true }),
    ...(internalTrafficPolicy === "Local" && { internalLocal: true }),
    ...(externalTrafficPolicy === "Local" && { externalLocal: true }),
  };
}
