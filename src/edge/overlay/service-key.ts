/** Where services are that node engines name without a namespace. */
const NAMESPACE = "default";

/** How the state calls the service of an application: `web` is `default/web`. */
export function serviceKey(appName: string): string {
  return `${NAMESPACE}/${appName}`;
}

/** How a node calls a service; one of another namespace by its key. */
export function nameOfKey(key: string): string {
  return key.startsWith(`${NAMESPACE}/`) ? key.slice(NAMESPACE.length + 1) : key;
}
