/**
 * Key of the Endpoint that a server of the engine is; empty for none. Where a name is asked for, an
 * endpoint is one server for each family, which its key says after a space.
 */
export function endpointOf(server: string): string {
  const space = server.indexOf(" ");
  return space < 0 ? server : server.slice(0, space);
}
