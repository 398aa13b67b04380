import { expect, test } from "vitest";
import { LoopbackOpener } from "./route-localnet.ts";

const NAME = "net.ipv4.conf.all.route_localnet";

/** A kernel's settings, and what is said of them. */
function setUp() {
  const settings = new Map<string, string>();
  const said: string[] = [];
  const tell = (level: string) => (_fields: object, message: string) =>
    void said.push(`${level}: ${message}`);
  const ensure = async (name: string, value: string): Promise<boolean> => {
    const hadAnother = settings.get(name) !== value;
    settings.set(name, value);
    return hadAnother;
  };
  const log = {
    debug: tell("debug"),
    info: tell("info"),
    warn: tell("warn"),
    error: tell("error"),
  };
  return { settings, said, opener: new LoopbackOpener({ ensure }, log, "nftables") };
}

test("is told where the kernel had another value", async () => {
  const { settings, said, opener } = setUp();
  await opener.open();
  await opener.open();
  expect([...settings]).toEqual([[NAME, "1"]]);
  expect(said).toEqual([`info: ${NAME} was set to 1, so that services answer on 127.0.0.1`]);
});

test("nothing is told where it is open already", async () => {
  const { settings, said, opener } = setUp();
  settings.set(NAME, "1");
  await opener.open();
  expect(said).toEqual([]);
});

test("where others closed it, it is opened again, and that is a warning", async () => {
  const { settings, said, opener } = setUp();
  await opener.open();
  settings.set(NAME, "0");
  await opener.open();
  expect([...settings]).toEqual([[NAME, "1"]]);
  expect(said.at(-1)).toBe(`warn: ${NAME} was altered by others, and is set to 1 again`);
});
