import { isPort } from "../../core/model/address.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { invalid } from "../../core/model/problems.ts";
import type { SecurityGroup, SecurityRule } from "../../core/model/security-group.ts";
import type { ResourceRef } from "../command.ts";
import { actionsOf } from "./actions.ts";
import {
  checked,
  type DesiredResource,
  NO_CHANGE,
  type Plan,
  type PlanCall,
} from "./desired-resource.ts";
import { type Field, readFields, showFields, text, word } from "./fields.ts";
import { innerNameProblem } from "./names.ts";
import { assertSomethingSaid, find, findOurs } from "./object-resource.ts";
import { wordsFor } from "./references.ts";
import { notFound, taken } from "./refusals.ts";
import { A_NETWORK } from "./rules.ts";
import { ACCESS_WORDS, SECURITY_GROUPS } from "./security-group.ts";
import type { StateView } from "./state-view.ts";

const PROTOCOL_WORDS = ["any", "tcp", "udp", "sctp"] as const;
const LAST_PORT = 65_535;
const PORT_RANGE_FORM = "a port, or FIRST,LAST such as 80,90";

type ProtocolWord = (typeof PROTOCOL_WORDS)[number];

const PROTOCOL_OF: Readonly<Record<ProtocolWord, SecurityRule["protocol"]>> = {
  any: "any",
  tcp: "TCP",
  udp: "UDP",
  sctp: "SCTP",
};

/** `80,90` reads as a list of two. */
const PORT_RANGE: Field<SecurityRule> = {
  specs: [
    {
      kind: "list",
      name: "port-range",
      field: "portRange",
      placeholder: "FIRST,LAST",
      help: "Ports of the listener that the rule is about, both ends included, or a single one",
      standard: "1,65535",
    },
  ],
  show: ({ minPort, maxPort }) =>
    minPort === maxPort ? [`${minPort}`] : [`${minPort}`, `${maxPort}`],
  read: (rule, params, problems) => {
    const entries = params.list("port-range") ?? [];
    if (entries.length === 0) return { ...rule, minPort: 1, maxPort: LAST_PORT };
    const [minPort = 0, maxPort = minPort, ...more] = entries.map((entry) =>
      /^\d{1,5}$/.test(entry) ? Number(entry) : 0,
    );
    const isRange = isPort(minPort) && isPort(maxPort) && minPort <= maxPort && more.length === 0;
    if (isRange) return { ...rule, minPort, maxPort };
    problems.push(invalid(["port-range"], entries.join(","), PORT_RANGE_FORM));
    return rule;
  },
};

export const RULE_FIELDS: readonly Field<SecurityRule>[] = [
  text(
    {
      name: "network",
      field: "clientNetwork",
      placeholder: "NETWORK",
      required: true,
      help: "Where clients come from; the longest network that a client is in decides",
    },
    {
      get: ({ network }) => network,
      set: (rule, network) => ({ ...rule, network }),
    },
    A_NETWORK,
  ),
  word(
    {
      name: "protocol",
      field: "protocol",
      values: PROTOCOL_WORDS,
      help: "What clients speak to the listener",
      standard: "any",
    },
    PROTOCOL_WORDS,
    {
      get: ({ protocol }) => PROTOCOL_WORDS.find((each) => PROTOCOL_OF[each] === protocol) ?? "any",
      set: (rule, protocol) => ({ ...rule, protocol: PROTOCOL_OF[protocol] }),
    },
  ),
  PORT_RANGE,
  word(
    {
      name: "default",
      field: "rule",
      values: ACCESS_WORDS,
      required: true,
      help: "Whether such clients are let in",
    },
    ACCESS_WORDS,
    {
      get: ({ access }) => access,
      set: (rule, access) => ({ ...rule, access }),
    },
  ),
];

/** What comes of the name of a rule alone. */
export function standardRule(name: string): SecurityRule {
  return {
    name,
    network: "0.0.0.0/0",
    protocol: "any",
    minPort: 1,
    maxPort: LAST_PORT,
    access: "allow",
  };
}

function groupName(within: readonly ResourceRef[]): string {
  return within[0]?.name ?? "";
}

function ourGroup({ within, view }: PlanCall): SecurityGroup {
  return findOurs(SECURITY_GROUPS, groupName(within), view);
}

function planAdd(call: PlanCall): Plan {
  const { command, params, options } = call;
  const problem = innerNameProblem(command.name);
  const standard = standardRule(command.name);
  const rule = readFields(RULE_FIELDS, standard, params, problem === undefined ? [] : [problem]);
  const group = ourGroup(call);
  const present = group.rules.find(({ name }) => name === rule.name);
  if (present === undefined) return planWith(group, [...group.rules, rule]);
  if (options.isLoading && deepEqual(present, rule)) return NO_CHANGE;
  throw taken(`security-group-rule ${command.name}`, `the one that ${wordsFor(group)} has already`);
}

function planUpdate(call: PlanCall): Plan {
  const group = ourGroup(call);
  const present = ruleIn(group, call.command.name);
  assertSomethingSaid(call, RULE_FIELDS);
  const rule = readFields(RULE_FIELDS, present, call.params);
  return planWith(
    group,
    group.rules.map((each) => (each === present ? rule : each)),
  );
}

function planRemove(call: PlanCall): Plan {
  const group = ourGroup(call);
  const present = ruleIn(group, call.command.name);
  return planWith(
    group,
    group.rules.filter((each) => each !== present),
  );
}

function planWith(group: SecurityGroup, rules: readonly SecurityRule[]): Plan {
  return { set: [checked("SecurityGroup", { ...group, rules })], delete: [], note: "" };
}

function ruleIn(group: SecurityGroup, name: string): SecurityRule {
  const present = group.rules.find((rule) => rule.name === name);
  if (present !== undefined) return present;
  const known = group.rules.map((rule) => rule.name);
  throw notFound(`security-group-rule in ${wordsFor(group)}`, name, known);
}

function rulesOf(within: readonly ResourceRef[], view: StateView): readonly SecurityRule[] {
  return find(SECURITY_GROUPS, groupName(within), view).rules;
}

export const SECURITY_GROUP_RULE: DesiredResource = {
  spec: {
    name: "security-group-rule",
    shorts: ["secgr"],
    summary: "A rule of a security group",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [["security-group"]],
        actions: actionsOf(RULE_FIELDS, {
          one: "a rule of a security group",
          many: "rules of a security group",
          place: " to security-group secg0",
          example: "security-group-rule r0",
          add: [
            "add security-group-rule r0 to security-group secg0 network 10.0.0.0/8 protocol tcp port-range 80,90 default allow",
            "add security-group-rule r1 to security-group secg0 network fd00::/8 default deny",
          ],
          update: ["update security-group-rule r0 in security-group secg0 port-range 80"],
          remove: "",
        }),
      },
    ],
  },
  plans: { add: planAdd, update: planUpdate, remove: planRemove, "force-remove": planRemove },
  names: ({ within, view }) => rulesOf(within, view).map(({ name }) => name),
  records: ({ within, view }) =>
    rulesOf(within, view).map((rule) => ({ name: rule.name, ...showFields(RULE_FIELDS, rule) })),
};
