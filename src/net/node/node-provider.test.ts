import { ipAddress } from "../../platform/socket-address.ts";
import { describeDatagramContract } from "../datagram.contract.ts";
import { describeFdContract } from "../fd.contract.ts";
import type { ScenarioSubject } from "../scenario.fixture.ts";
import { NodeProvider } from "./node-provider.ts";

const node: ScenarioSubject = {
  makeProvider: () => new NodeProvider(),
  run: (loop) =>
    new Promise((resolve) => {
      loop.start();
      const check = (): void => {
        if (loop.isClosed) resolve();
        else setImmediate(check);
      };
      check();
    }),
};
/** Reserved (tcpmux): nothing listens there, and no ephemeral port is below it. */
const DEAD_PORT = 1;

describeFdContract({
  ...node,
  name: "node",
  address: ipAddress("127.0.0.1", 0),
  deadAddress: ipAddress("127.0.0.1", DEAD_PORT),
});
describeDatagramContract({ ...node, name: "node", address: ipAddress("127.0.0.1", 0) });
