import { describe, expect, test } from "vitest";
import { redisCli } from "../../../test/support/redis-cli.ts";
import { requires } from "../../../test/support/requires.ts";
import { startTestController } from "./controller.fixture.ts";

describe("redis-cli", requires("redis-cli"), () => {
  test("one command a call", async () => {
    const { control, port } = await startTestController();
    control.records = [{ name: "lb0", address: "0.0.0.0:80", timeout: 900 }];
    expect(await redisCli(port, ["PING"])).toBe("PONG\n");
    expect(await redisCli(port, ["add", "upstream", "u0"])).toBe("OK\n");
    expect(await redisCli(port, ["--no-raw", "list", "upstream"])).toBe('1) "u0"\n');
    expect(await redisCli(port, ["list-detail tcp-lb"])).toBe(
      "lb0 -> address 0.0.0.0:80 timeout 900\n",
    );
    expect(await redisCli(port, ["--no-raw", "-3", "list-detail", "tcp-lb"])).toBe(
      '1) 1# "name" => "lb0"\n   2# "address" => "0.0.0.0:80"\n   3# "timeout" => (integer) 900\n',
    );
    expect(await redisCli(port, ["remove", "upstream", "u1"])).toMatch(/^ERR ERR_NOT_FOUND /);
    expect(await redisCli(port, ["man"])).toMatch(/^the manual\nof two lines with \u00e4/);
    expect(await redisCli(port, ["--no-raw", "-3", "man"])).toMatch(/^the manual\nof two lines/);
    control.result = { kind: "number", value: 42 };
    expect(await redisCli(port, ["--no-raw", "list", "upstream"])).toBe("(integer) 42\n");
  });

  test("commands typed one after the other, with JSON in quotes", async () => {
    const { control, port } = await startTestController();
    const stdin = [
      "add upstream u0",
      `add server-group g0 to upstream u0 annotations '{"a b":"c"}'`,
      "list upstream",
      "version",
    ].join("\n");
    expect(await redisCli(port, [], { stdin })).toBe("OK\nOK\nu0\nportolan 1.2.3\n");
    const [, second] = control.given;
    const params = second?.command.kind === "resource" ? second.command.params : new Map();
    expect(JSON.parse(String(params.get("annotations")))).toEqual({ "a b": "c" });
  });

  test("a file of lines in one go", async () => {
    const { control, port } = await startTestController();
    const lines = Array.from({ length: 1000 }, (_, index) => `add upstream u${index}`);
    const stdin = `# many\n${lines.join("\n")}\nremove upstream nobody\n`;
    const printed = await redisCli(port, ["--pipe"], { stdin });
    expect(printed).toContain("errors: 1, replies: 1001");
    expect(control.given).toHaveLength(1001);
  });

  test("the password, by either version", async () => {
    const { port } = await startTestController({ password: "p w", limits: { authDelayMs: 1 } });
    expect(await redisCli(port, ["list", "upstream"])).toMatch(/^NOAUTH /);
    expect(await redisCli(port, ["list", "upstream"], { password: "no" })).toMatch(
      /AUTH failed: WRONGPASS[\s\S]*NOAUTH/,
    );
    for (const version of [[], ["-3"]]) {
      expect(await redisCli(port, [...version, "PING"], { password: "p w" })).toBe("PONG\n");
    }
    expect(
      await redisCli(port, ["--user", "default", "--pass", "p w", "--no-auth-warning", "PING"]),
    ).toBe("PONG\n");
  });
});
