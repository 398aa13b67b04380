import { expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { namespaceCookie } from "./namespace-cookie.ts";
import { NetworkNamespace } from "./network-namespace.ts";

test("each network namespace has a number of its own", requires("linux", "root"), () => {
  const other = NetworkNamespace.create();
  onTestFinished(() => other.close());
  expect(namespaceCookie()).toBe(namespaceCookie());
  expect(other.run(namespaceCookie)).not.toBe(namespaceCookie());
});
