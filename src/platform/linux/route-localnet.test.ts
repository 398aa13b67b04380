import { expect, test } from "vitest";
import { openLoopback } from "./route-localnet.ts";

test.each([
  [true, ["net.ipv4.conf.all.route_localnet was set to 1, so that services answer on 127.0.0.1"]],
  [false, []],
])("is told where the kernel had another value: %s", async (hadAnother, expected) => {
  const said: string[] = [];
  const set: string[] = [];
  const info = (_fields: object, message: string): void => void said.push(message);
  await openLoopback(
    {
      read: async () => undefined,
      ensure: async (name, value) => {
        set.push(`${name}=${value}`);
        return hadAnother;
      },
    },
    { debug: info, info, warn: info, error: info },
    "nftables",
  );
  expect(set).toEqual(["net.ipv4.conf.all.route_localnet=1"]);
  expect(said).toEqual(expected);
});
