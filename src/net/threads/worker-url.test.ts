import { expect, test } from "vitest";
import { workerUrl } from "./worker-url.ts";

test("a thread's module has the extension of who starts it", () => {
  expect(workerUrl("./b/loop", "file:///src/a.ts").href).toBe("file:///src/b/loop.ts");
  expect(workerUrl("../loop", "file:///dist/x/a.js").href).toBe("file:///dist/loop.js");
});
