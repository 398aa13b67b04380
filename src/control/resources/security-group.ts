import { parseKind } from "../../core/model/parse.ts";
import type { Access, SecurityGroup } from "../../core/model/security-group.ts";
import { actionsOf } from "./actions.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { type Field, word } from "./fields.ts";
import { namesOf, type ObjectResource, planners, recordsOf } from "./object-resource.ts";

export const ACCESS_WORDS: readonly Access[] = ["allow", "deny"];

const FIELDS: readonly Field<SecurityGroup>[] = [
  word(
    {
      name: "default",
      field: "defaultRule",
      values: ACCESS_WORDS,
      required: true,
      help: "What holds for clients that no rule is about",
    },
    ACCESS_WORDS,
    {
      get: ({ defaultAccess }) => defaultAccess,
      set: (group, defaultAccess) => ({ ...group, defaultAccess }),
    },
  ),
];

export const SECURITY_GROUPS: ObjectResource<"SecurityGroup"> = {
  type: "security-group",
  kind: "SecurityGroup",
  fields: FIELDS,
  standard: parseKind("SecurityGroup", { name: "-", defaultAccess: "allow" }),
  isOne: () => true,
  ownPart: ({ rules: _rules, ...rest }) => rest,
  details:
    () =>
    ({ rules }) => ({ rules: rules.map(({ name }) => name) }),
};

export const SECURITY_GROUP: DesiredResource = {
  spec: {
    name: "security-group",
    shorts: ["secg"],
    summary: "Who may call a listener: rules by network, protocol and port, and what holds else",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: actionsOf(FIELDS, {
          one: "a security group",
          many: "security groups",
          place: "",
          example: "security-group secg0",
          add: ["add security-group secg0 default deny"],
          update: ["update security-group secg0 default allow"],
          remove: " with its rules; refused while a listener uses it",
        }),
      },
    ],
  },
  plans: planners(SECURITY_GROUPS),
  names: ({ view }) => namesOf(SECURITY_GROUPS, view),
  records: (call) => recordsOf(SECURITY_GROUPS, call),
};
