import { expect, test } from "vitest";
import { type NftElement, TableScript } from "./table-script.ts";

const script = () => new TableScript({ family: "ip", name: "t" });

test("writes commands in the order of the calls", () => {
  const text = script();
  text.addTable("mine");
  text.addContainer({
    kind: "map",
    name: "m",
    type: "type ipv4_addr : verdict",
    properties: ["size 10"],
    comment: "what",
  });
  const chain = { name: "c", comment: "why", rules: ["ip daddr vmap @m", "drop"] };
  text.addChain(chain);
  text.addRules(chain);
  text.addChain({
    name: "base",
    hook: "type nat hook output priority -100; policy accept;",
    comment: "in",
    rules: [],
  });
  text.flushChain("c");
  text.deleteChain("c");
  text.deleteTable();
  expect(text.text()).toBe(`add table ip t { comment "mine" ; }
add map ip t m { type ipv4_addr : verdict ; size 10 ; comment "what" ; }
add chain ip t c { comment "why" ; }
add rule ip t c ip daddr vmap @m
add rule ip t c drop
add chain ip t base { type nat hook output priority -100; policy accept; comment "in" ; }
flush chain ip t c
delete chain ip t c
delete table ip t
`);
});

test("gathers elements by container, and deletes them by their keys", () => {
  const text = script();
  const elements: readonly NftElement[] = [
    { container: "m", key: "10.0.0.1", value: "drop", comment: "a/b" },
    { container: "s", key: "10.0.0.2" },
    { container: "m", key: "10.0.0.3", value: "accept" },
  ];
  text.addElements(elements);
  text.deleteElements(elements);
  expect(text.text()).toBe(`add element ip t m { 10.0.0.1 comment "a/b" : drop, 10.0.0.3 : accept }
add element ip t s { 10.0.0.2 }
delete element ip t m { 10.0.0.1, 10.0.0.3 }
delete element ip t s { 10.0.0.2 }
`);
});

test.each([
  ['a" ; } delete table ip other', "a_ ; } delete table ip other"],
  ["größe\\\n", "gr__e__"],
  ["x".repeat(500), "x".repeat(120)],
])("a comment is of a kind that nft takes: %j", (comment, written) => {
  const text = script();
  text.addTable(comment);
  expect(text.text()).toBe(`add table ip t { comment "${written}" ; }\n`);
});

test("many elements become several commands", () => {
  const text = script();
  text.addElements(Array.from({ length: 5001 }, (_, n) => ({ container: "s", key: String(n) })));
  expect(text.text().split("\n")).toHaveLength(3);
});

test("nothing to do is an empty text", () => {
  const text = script();
  text.addElements([]);
  expect(text.text()).toBe("");
});
