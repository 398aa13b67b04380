// node route.mjs STATE-FILE NODE SOURCE DESTINATION PORT: where a packet goes, and why.
import { GlobalStore, loadState } from "portolan";
import { DEFAULT_ROUTE_POLICY, describeVerdict, route } from "portolan/core";

const [file = "", node = "", source = "", destination = "", port = "80"] = process.argv.slice(2);
const store = new GlobalStore();
const { objects } = await loadState(file);
store.transact("me", (transaction) => transaction.replaceAll(objects));

const verdict = route(
  { global: store.state(), node },
  { protocol: "TCP", src: source, dst: destination, dstPort: Number(port), from: "workload" },
  DEFAULT_ROUTE_POLICY,
);
console.log(describeVerdict(verdict).join("\n"));
