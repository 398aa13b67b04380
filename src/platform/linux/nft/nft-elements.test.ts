import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import type { ElementMessage } from "../../../wire/netlink/nftables/element-batch.ts";
import { execChecked, systemExec } from "../exec.ts";
import { NetworkNamespace } from "../network-namespace.ts";
import { type NftElements, openNftElements } from "./nft-elements.ts";

const ADDRESS = Uint8Array.of(10, 0, 0, 1);
const OTHER_ADDRESS = Uint8Array.of(10, 0, 0, 2);

interface Rig {
  readonly elements: NftElements;
  nft(...args: readonly string[]): Promise<string>;
}

async function rigWith(...commands: readonly string[]): Promise<Rig> {
  const namespace = NetworkNamespace.create();
  const elements = namespace.run(openNftElements);
  onTestFinished(() => {
    elements.close();
    namespace.close();
  });
  const nft = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await namespace.run(() => execChecked(systemExec, "nft", args));
    return stdout;
  };
  for (const command of commands) await nft(command);
  return { elements, nft };
}

function message(verb: ElementMessage["verb"], more: Partial<ElementMessage>): ElementMessage {
  return { verb, family: "v4", table: "t", container: "s", elements: [{ key: ADDRESS }], ...more };
}

const TABLE = "add table ip t";
const SET = "add set ip t s { type ipv4_addr ; }";
const MAP = "add map ip t m { type ipv4_addr : ipv4_addr ; }";

describe("in the kernel", requires("linux", "root", "nft"), () => {
  test("what is deleted and added is one transaction, which leaves the rest as it is", async () => {
    const { elements, nft } = await rigWith(
      TABLE,
      SET,
      "add element ip t s { 10.0.0.1, 10.0.0.3 }",
    );
    const outcome = await elements.run([
      message("delete", {}),
      message("add", { elements: [{ key: OTHER_ADDRESS, comment: "why" }] }),
    ]);
    expect(outcome).toEqual({ kind: "applied" });
    const listing = await nft("list set ip t s");
    expect(listing).toContain('10.0.0.2 comment "why"');
    expect(listing).toContain("10.0.0.3");
    expect(listing).not.toContain("10.0.0.1");
  });

  test("nothing is done where a part of it can not be, and the socket goes on", async () => {
    const { elements, nft } = await rigWith(TABLE, SET);
    const add = message("add", { elements: [{ key: OTHER_ADDRESS }] });
    expect(await elements.run([message("delete", {}), add])).toMatchObject({
      kind: "unexpected",
      error: { message: expect.stringMatching(/^delete element ip t s failed: ENOENT/) },
    });
    expect(await nft("list set ip t s")).not.toContain("10.0.0.2");
    expect(await elements.run([add])).toEqual({ kind: "applied" });
  });

  test("a table that is gone and a key that has another value are not expected", async () => {
    const { elements } = await rigWith(TABLE, MAP, "add element ip t m { 10.0.0.1 : 10.0.0.9 }");
    const value = { container: "m", elements: [{ key: ADDRESS, value: OTHER_ADDRESS }] };
    expect(await elements.run([message("add", value)])).toMatchObject({
      kind: "unexpected",
      error: { code: "ERR_SYSTEM_CALL", message: expect.stringContaining("EEXIST") },
    });
    expect(await elements.run([message("add", { table: "gone" })])).toMatchObject({
      kind: "unexpected",
    });
  });

  test("what the kernel refuses for another reason is an error that says which part", async () => {
    const { elements } = await rigWith(TABLE, SET);
    const tooShort = message("add", { elements: [{ key: Uint8Array.of(1) }] });
    await expect(elements.run([message("add", {}), tooShort])).rejects.toMatchObject({
      code: "ERR_SYSTEM_CALL",
      message: expect.stringMatching(/^add element ip t s failed: EINVAL/),
    });
  });
});
