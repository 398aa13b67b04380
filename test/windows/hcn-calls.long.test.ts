import { describe, onTestFinished, test } from "vitest";
import { requires } from "../support/requires.ts";
import { makeManyCalls } from "./make-many-calls.ts";
import { Wine } from "./wine.ts";

const CALLS = 200_000;
const LIMIT_MS = 280_000;

describe("on Windows, as Wine has it", requires("linux", "wine", "x86_64-w64-mingw32-gcc"), () => {
  test("200,000 calls leave no memory, no handle and no text behind", async () => {
    const wine = await Wine.open();
    onTestFinished(() => wine.close());
    await makeManyCalls(wine, CALLS, LIMIT_MS);
  });
});
