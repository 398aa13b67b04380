// node load-balancer.mjs 127.0.0.1:8080 127.0.0.1:9001 127.0.0.1:9002
import { serve } from "portolan";

const [listen = "127.0.0.1:8080", ...servers] = process.argv.slice(2);
const balancer = await serve({
  services: { web: { listen, servers, method: "least-connections" } },
});
console.log(`balances ${listen} to ${servers.join(", ")}`);
process.once("SIGTERM", () => balancer.close());
