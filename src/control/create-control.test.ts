import { expect, test } from "vitest";
import type { Caller } from "./command.ts";
import { MemoryWorld } from "./control-world.fixture.ts";
import { createControl } from "./create-control.ts";

const CONSOLE: Caller = { via: "console", from: "test", maySystem: true };

test("what is typed is made, listed, changed and removed", async () => {
  const world = new MemoryWorld();
  const control = createControl(world);
  const type = (line: string) => control.run(control.parse(line), CONSOLE);
  await type("add upstream u0");
  await type("add server-group g0 timeout 500 period 1000 up 2 down 3 method wrr");
  await type("add server s1 to server-group g0 address 10.0.2.1:80 weight 10");
  await type(
    'add server-group g0 to upstream u0 weight 10 annotations {"vproxy/hint-host":"a.com"}',
  );
  await type("add tcp-lb lb0 address 0.0.0.0:80 upstream u0 protocol http");
  await expect(type("remove upstream u0")).rejects.toThrow(/tcp-lb lb0/);
});
