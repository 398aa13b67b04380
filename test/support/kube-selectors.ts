import type { KubeObject } from "./kube-server.ts";

/** Whether an object is meant by the selectors of a request: the few forms that Portolan sends. */
export function matchesSelectors(object: KubeObject, query: URLSearchParams): boolean {
  const labels = query.get("labelSelector") ?? "";
  const fields = query.get("fieldSelector") ?? "";
  return (
    labels.split(",").every((part) => part === "" || matchesLabel(object, part)) &&
    fields.split(",").every((part) => part === "" || matchesField(object, part))
  );
}

function matchesLabel({ metadata: { labels = {} } }: KubeObject, part: string): boolean {
  if (part.startsWith("!")) return labels[part.slice(1)] === undefined;
  const [key = "", value] = part.split("=");
  return value === undefined ? labels[key] !== undefined : labels[key] === value;
}

function matchesField(object: KubeObject, part: string): boolean {
  const [, path = "", operator, value] = /^([\w.]+)(!=|=)(.*)$/.exec(part) ?? [];
  let found: unknown = object;
  for (const key of path.split(".")) {
    found = typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined;
  }
  return (String(found ?? "") === value) === (operator === "=");
}
