import { readdirSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import type { ElementMessage } from "../../../wire/netlink/nftables/element-batch.ts";
import {
  ElementEncoder,
  type ElementText,
  type EncodedElements,
} from "../../../wire/netlink/nftables/element-encoder.ts";
import { parseElementLayout } from "../../../wire/netlink/nftables/element-layout.ts";
import { execChecked, systemExec } from "../exec.ts";
import { NetworkNamespace } from "../network-namespace.ts";
import { type NftElements, openNftElements } from "./nft-elements.ts";

const [ADDRESS, OTHER_ADDRESS] = ["10.0.0.1", "10.0.0.2"];

function encoded(type: string, ...texts: readonly ElementText[]): EncodedElements {
  const layout = parseElementLayout(type);
  if (layout === undefined) throw new Error(`no layout: ${type}`);
  const encoder = new ElementEncoder(layout, "add");
  for (const text of texts) encoder.add(text);
  return encoder.take();
}

const addresses = (...texts: readonly ElementText[]) => encoded("type ipv4_addr", ...texts);

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
  const elements = addresses({ key: ADDRESS });
  return { verb, family: "v4", table: "t", container: "s", elements, ...more };
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
      message("add", { elements: addresses({ key: OTHER_ADDRESS, comment: "why" }) }),
    ]);
    expect(outcome).toEqual({ kind: "applied" });
    const listing = await nft("list set ip t s");
    expect(listing).toContain('10.0.0.2 comment "why"');
    expect(listing).toContain("10.0.0.3");
    expect(listing).not.toContain("10.0.0.1");
  });

  test("nothing is done where a part of it can not be, and the socket goes on", async () => {
    const { elements, nft } = await rigWith(TABLE, SET);
    const add = message("add", { elements: addresses({ key: OTHER_ADDRESS }) });
    expect(await elements.run([message("delete", {}), add])).toMatchObject({
      kind: "unexpected",
      error: { message: expect.stringMatching(/^delete element ip t s failed: ENOENT/) },
    });
    expect(await nft("list set ip t s")).not.toContain("10.0.0.2");
    expect(await elements.run([add])).toEqual({ kind: "applied" });
  });

  test("a table that is gone and a key that has another value are not expected", async () => {
    const { elements } = await rigWith(TABLE, MAP, "add element ip t m { 10.0.0.1 : 10.0.0.9 }");
    const other = { key: ADDRESS, value: OTHER_ADDRESS };
    const value = { container: "m", elements: encoded("type ipv4_addr : ipv4_addr", other) };
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
    const tooShort = message("add", { elements: encoded("type inet_proto", { key: "tcp" }) });
    await expect(elements.run([message("add", {}), tooShort])).rejects.toMatchObject({
      code: "ERR_SYSTEM_CALL",
      message: expect.stringMatching(/^add element ip t s failed: EINVAL/),
    });
  });

  test("very many are one transaction, during which this thread goes on", async () => {
    const { elements, nft } = await rigWith(TABLE, SET);
    const messages = Array.from({ length: 500 }, (_, block) => {
      const texts = Array.from({ length: 100 }, (__, host) => ({
        key: `10.${block >> 8}.${block & 255}.${host}`,
        comment: `block ${block}`,
      }));
      return message("add", { elements: addresses(...texts) });
    });
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 1);
    const outcome = await elements.run(messages);
    clearInterval(counting);
    expect(outcome).toEqual({ kind: "applied" });
    expect(turns).toBeGreaterThan(0);
    expect((await nft("list set ip t s")).match(/10\.\d+\.\d+\.\d+ comment/g)).toHaveLength(50_000);
    // The first message finds nothing to delete: so nothing is done of the last one, which does.
    await nft("flush set ip t s");
    await nft("add element ip t s { 10.1.243.99 }");
    expect(await elements.run(messages.map((one) => ({ ...one, verb: "delete" })))).toMatchObject({
      kind: "unexpected",
    });
    expect(await nft("list set ip t s")).toContain("10.1.243.99");
  });

  test("a socket that is closed while it is busy with very many is closed when that is over", async () => {
    const { elements } = await rigWith(TABLE, SET);
    const texts = Array.from({ length: 200 }, (_, host) => ({ key: `10.0.0.${host}` }));
    const messages = Array.from({ length: 50 }, () =>
      message("add", { elements: addresses(...texts) }),
    );
    const before = readdirSync("/proc/self/fd").length;
    const running = elements.run(messages);
    // The thread that writes has the descriptor by now.
    await new Promise(setImmediate);
    elements.close();
    // Where the kernel was quicker, there was nothing left to abort.
    await running.catch((error: unknown) => expect(error).toMatchObject({ code: "ERR_ABORTED" }));
    expect(readdirSync("/proc/self/fd").length).toBeLessThan(before);
  });
});
