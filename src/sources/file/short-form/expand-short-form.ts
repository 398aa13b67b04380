import { expandGroup } from "./expand-group.ts";
import { expandService } from "./expand-service.ts";
import type { Expansion } from "./expansion.ts";
import { keyIn, type Name, nameIn } from "./names.ts";
import { type ExpandedPort, portsOf } from "./service-ports.ts";
import type { ShortForm, ShortSecurityGroup } from "./short-form.ts";

/** Expands all of a short form into plain objects of the model. */
export function expandShortForm(out: Expansion, form: ShortForm): void {
  const { namespace } = form;
  for (const [key, service] of Object.entries(form.services)) {
    expandService(out, ["services", key], nameIn(namespace, key), service);
  }
  for (const [key, group] of Object.entries(form.groups)) {
    const ports = portsOfUsers(form, keyIn(namespace, key));
    const content = { balancing: group, ports, metadata: group };
    expandGroup(out, ["groups", key], nameIn(namespace, key), content);
  }
  for (const [name, node] of Object.entries(form.nodes)) {
    out.emit(["nodes", name], { kind: "Node", name, ...node });
  }
  for (const [key, certificate] of Object.entries(form.certificates)) {
    const object = { kind: "Certificate", ...nameIn(namespace, key), ...certificate };
    out.emit(["certificates", key], object);
  }
  for (const [key, group] of Object.entries(form.securityGroups)) {
    out.emit(["securityGroups", key], securityGroupOf(nameIn(namespace, key), group));
  }
  form.objects.forEach((object, index) => {
    out.emit(["objects", index], object);
  });
}

/** The ports, each name once, of the services of the file that send to a group. */
function portsOfUsers(form: ShortForm, groupKey: string): readonly ExpandedPort[] {
  const ports = new Map<string, ExpandedPort>();
  for (const [key, service] of Object.entries(form.services)) {
    const { namespace } = nameIn(form.namespace, key);
    if (!service.groups.some((ref) => keyIn(namespace, ref.name) === groupKey)) continue;
    for (const port of portsOf(service)) ports.set(port.name, port);
  }
  return [...ports.values()];
}

function securityGroupOf(name: Name, group: ShortSecurityGroup): object {
  const { labels, annotations, default: defaultAccess } = group;
  const rules = group.rules.map(({ ports, ...rule }, index) => ({
    ...rule,
    ...ports,
    name: rule.name ?? `rule-${index + 1}`,
  }));
  return { kind: "SecurityGroup", ...name, labels, annotations, defaultAccess, rules };
}
