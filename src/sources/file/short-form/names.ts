export interface Name {
  readonly namespace: string;
  readonly name: string;
}

/** Reads `NAME` or `NAMESPACE/NAME`. */
export function nameIn(namespace: string, reference: string): Name {
  const slash = reference.indexOf("/");
  if (slash < 0) return { namespace, name: reference };
  return { namespace: reference.slice(0, slash), name: reference.slice(slash + 1) };
}

/** The key that a reference means: `NAMESPACE/NAME`. */
export function keyIn(namespace: string, reference: string): string {
  return reference.includes("/") ? reference : `${namespace}/${reference}`;
}
