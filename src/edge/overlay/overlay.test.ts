import { expect, test } from "vitest";
import type { Log } from "../../core/log.ts";
import { createLoopHost } from "../../net/threads/loop-host.ts";
import type { TableRow } from "../environment/route-table.ts";
import { Overlay } from "./overlay.ts";

const silent = (): void => undefined;
const LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };

function row(appName: string): TableRow {
  return {
    ...{ appName, instanceNumber: 0, nodeIp: "192.0.2.1", nodePort: 50_103, isLocal: true },
    ...{ nsAddress: "10.18.0.2", nsAddressv6: "fc00::2", serviceIps: [] },
  };
}

test("a service that is called as another one is refused by its name", async () => {
  const overlay = new Overlay({
    ...{ node: "a", host: createLoopHost(LOG), port: 50_103, privateKey: "", log: LOG },
    ...{ connections: { flows: [], note: silent }, onLost: silent },
  });
  overlay.begin();
  overlay.setLocal([row("web")]);
  for (const name of ["Web", "web.default"]) {
    await expect(overlay.claim(row(name))).rejects.toMatchObject({
      code: "ERR_KEY_TAKEN",
      message: `appName: "${name}" is a name of web; give another`,
    });
  }
  expect(await overlay.claim(row("web"))).toEqual([]);
  expect(await overlay.claim(row("webs"))).toEqual([]);
});
