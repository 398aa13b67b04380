// node socks5.mjs 127.0.0.1:1080, then: curl --proxy socks5h://127.0.0.1:1080 http://somewhere/
import { serve } from "portolan";

const [address = "127.0.0.1:1080"] = process.argv.slice(2);
const socks = await serve({
  services: { socks: { listen: { address, mode: "socks5", allowOthers: true } } },
});
console.log(`SOCKS5 on ${address}`);
process.once("SIGTERM", () => socks.close());
