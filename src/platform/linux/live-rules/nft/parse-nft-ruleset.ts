import type { Family } from "../../../../core/model/address.ts";
import { createContainer } from "../create-container.ts";
import type {
  HookName,
  LiveChain,
  LiveContainer,
  LiveHook,
  LiveRule,
  LiveRuleset,
} from "../ruleset.ts";
import { asList, asObject, asText, type JsonObject, tagOf } from "./json.ts";
import { keyTypeOf, nameIn, parseElements } from "./parse-container.ts";
import type { RulePlace } from "./parse-expression.ts";
import { parseStatement } from "./parse-statement.ts";
import type { RuleTexts } from "./rule-texts.ts";

/** The families of tables whose rules see packets of services. */
const FAMILIES: Readonly<Record<string, readonly Family[]>> = {
  ip: ["v4"],
  ip6: ["v6"],
  inet: ["v4", "v6"],
  netdev: ["v4", "v6"],
  bridge: ["v4", "v6"],
};

const HOOKS: Readonly<Record<string, HookName>> = {
  prerouting: "prerouting",
  input: "input",
  forward: "forward",
  output: "output",
  postrouting: "postrouting",
  ingress: "ingress",
  egress: "egress",
};

/**
 * Where packets of services pass chains of bridges: before all others, or after them. Those that one port
 * hands to another are none.
 */
const BRIDGE_HOOKS: Readonly<Record<string, HookName>> = {
  prerouting: "ingress",
  input: "ingress",
  output: "egress",
  postrouting: "egress",
};

interface ChainParts {
  readonly families: readonly Family[];
  readonly hook: LiveHook | undefined;
  readonly rules: LiveRule[];
}

/**
 * Reads what `nft -j list ruleset` prints.
 * @param texts the same rules as `nft` prints them for people
 * @param isOurs leaves out tables that another tool reads better, or that no packet meets
 */
export function parseNftRuleset(
  json: unknown,
  texts: RuleTexts,
  isOurs: (family: string, table: string) => boolean = () => true,
): LiveRuleset {
  const chains = new Map<string, ChainParts>();
  const containers = new Map<string, LiveContainer>();
  for (const item of asList(asObject(json)["nftables"])) {
    const { tag, body } = tagOf(item);
    const fields = asObject(body);
    const place = { family: asText(fields["family"]), table: asText(fields["table"]) };
    const families = FAMILIES[place.family];
    if (families === undefined || !isOurs(place.family, place.table)) continue;
    const id = nameIn(place, asText(fields["name"]));
    if (tag === "chain")
      chains.set(id, { families, hook: hookOf(fields, place, texts), rules: [] });
    else if (tag === "set" || tag === "map") containers.set(id, containerOf(id, fields, place));
    else if (tag === "rule") {
      const chain = chains.get(nameIn(place, asText(fields["chain"])));
      chain?.rules.push(ruleOf(fields, place, texts));
    }
  }
  const named = [...chains].map(([id, parts]): [string, LiveChain] => [id, { id, ...parts }]);
  return { chains: new Map(named), containers };
}

function hookOf(fields: JsonObject, place: RulePlace, texts: RuleTexts): LiveHook | undefined {
  const isBridge = place.family === "bridge";
  const name = (isBridge ? BRIDGE_HOOKS : HOOKS)[asText(fields["hook"])];
  if (name === undefined) return undefined;
  const hook: LiveHook = {
    name,
    priority: Number(fields["prio"] ?? 0),
    isNat: fields["type"] === "nat",
    policy: fields["policy"] === "drop" ? "drop" : "accept",
  };
  if (isBridge) return { ...hook, links: "bridges" };
  const isOfLinks = name === "ingress" || name === "egress";
  return isOfLinks ? { ...hook, links: texts.linksOf(place, asText(fields["name"])) } : hook;
}

function containerOf(id: string, fields: JsonObject, place: RulePlace): LiveContainer {
  const keyType = keyTypeOf(fields["type"]);
  const dataType = asText(fields["map"]);
  return createContainer(id, parseElements(asList(fields["elem"]), place, keyType, dataType));
}

function ruleOf(fields: JsonObject, place: RulePlace, texts: RuleTexts): LiveRule {
  const statements = asList(fields["expr"]);
  const rule = texts.textOf(place, Number(fields["handle"]));
  return {
    text: rule ?? JSON.stringify(statements),
    steps: statements.map((statement) => parseStatement(statement, { ...place, rule })),
  };
}
