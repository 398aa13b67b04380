import type { Group } from "../../core/model/group.ts";
import { keyOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import { invalid, type Problem } from "../../core/model/problems.ts";
import { actionsOf } from "./actions.ts";
import { groupAnnotations } from "./annotations.ts";
import {
  ATTACHED_ACTIONS,
  ATTACHED_PLANS,
  attachedNames,
  attachedRecords,
} from "./attached-group.ts";
import type { ChangeAction, DesiredResource, Planner } from "./desired-resource.ts";
import { GROUP_FIELDS } from "./group-fields.ts";
import { namesOf, type ObjectResource, planners, recordsOf } from "./object-resource.ts";
import { ourEndpoints, withoutGroup } from "./upstream.ts";

export const SERVER_GROUPS: ObjectResource<"Group"> = {
  type: "server-group",
  kind: "Group",
  fields: [...GROUP_FIELDS, groupAnnotations(GROUP_FIELDS)],
  standard: parseKind("Group", { name: "-", healthCheck: {} }),
  isOne: () => true,
  check: checkTls,
  inner: (group, view) => ourEndpoints(keyOf(group), view),
  released: (group, view) => withoutGroup(keyOf(group), view),
};

/** TLS to servers is both: what they are shown, and who they may be. */
function checkTls({ tls }: Group, problems: Problem[]): void {
  if (tls === undefined) return;
  if (tls.certificate === "") {
    problems.push(invalid(["peers"], tls.peers, "tls too: servers show who they are in TLS only"));
  } else if (tls.peers.length === 0) {
    problems.push(invalid(["tls"], tls.certificate, "peers too: who the servers may be"));
  }
}

const PLANS = planners(SERVER_GROUPS);

/** By itself, or as what an upstream sends to. */
function here(action: ChangeAction): Planner {
  const attached = ATTACHED_PLANS[action];
  const own = PLANS[action];
  return (call) => (call.within.length > 0 ? attached(call) : own(call));
}

export const SERVER_GROUP: DesiredResource = {
  spec: {
    name: "server-group",
    shorts: ["sg"],
    summary: "Servers that are balanced and checked in one way",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: actionsOf(SERVER_GROUPS.fields, {
          one: "a server group",
          many: "server groups",
          place: "",
          example: "server-group g0",
          add: [
            "add server-group g0",
            "add server-group g0 timeout 500 period 1000 up 2 down 3 method wrr",
            "add server-group g3 tls c0 peers spiffe://portolan/service/default/shop",
            "add server-group g1 protocol http check-path /healthz check-status 2xx,3xx",
            'add server-group g2 annotations {"vproxy/hint-host":"a.example"}',
          ],
          update: [
            "update server-group g0 method wlc",
            "update server-group g0 period 2000 down 5",
          ],
          remove: " with its servers; refused while an upstream or a service sends to it",
          refused: [
            {
              name: "weight",
              field: "weight",
              why: "is not of the group itself, but of its place in an upstream",
              instead:
                "add server-group NAME to upstream NAME weight NUMBER (or update ... in upstream)",
            },
            {
              name: "event-loop-group",
              field: "eventLoopGroup",
              why: "is not of a group: its connections are on the loops of the listeners that send to it, and one loop checks the servers of all groups, another one when that ends",
              instead: "event-loop-group of a listener",
            },
          ],
          force:
            "its servers go with it, and no upstream or service made here sends to it any more",
        }),
      },
      { within: [["upstream"], ["service"]], actions: ATTACHED_ACTIONS },
    ],
  },
  plans: {
    add: here("add"),
    update: here("update"),
    remove: here("remove"),
    "force-remove": here("force-remove"),
  },
  names: (call) =>
    call.within.length === 0 ? namesOf(SERVER_GROUPS, call.view) : attachedNames(call),
  records: (call) =>
    call.within.length === 0 ? recordsOf(SERVER_GROUPS, call) : attachedRecords(call),
};
