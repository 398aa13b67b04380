/** `api-server FILE`: serves a state over the API and prints the port, until it is killed. */
import { createApiServer } from "../../src/brain/api-server.ts";
import { createStoreFrom } from "../support/cluster-store.ts";

const [path = ""] = process.argv.slice(2);
const server = await createApiServer(createStoreFrom(path), {
  listen: { kind: "tcp", host: "127.0.0.1", port: 0 },
});
if (server.address.kind === "tcp") console.log(String(server.address.port));
