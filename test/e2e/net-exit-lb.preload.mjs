/**
 * Loaded by Node into a `portolan` process and into each of its threads, before the program: makes go
 * wrong what the file that NET_EXIT_FAULT names says, when it says so. The program knows nothing
 * of it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env["NET_EXIT_FAULT"] ?? "";
const LOOK_MS = 20;
const CHUNK = 10_000;

/** What shall happen, once: the first who sees it does it. */
function takeFault(where) {
  const fault = readFileSync(file, "utf8");
  if (!fault.startsWith(`${where} `)) return "";
  writeFileSync(file, "");
  return fault.slice(where.length + 1);
}

if (isMainThread) {
  const looking = setInterval(() => {
    if (takeFault("main") !== "throw") return;
    clearInterval(looking);
    throw new Error("thrown on purpose");
  }, LOOK_MS);
  looking.unref();
} else {
  // A loop asks for the time in every round, outside of all that catches what callbacks throw.
  const now = performance.now.bind(performance);
  performance.now = () => {
    switch (takeFault("loop")) {
      case "throw":
        throw new Error("thrown on purpose");
      case "exit":
        process.exit(3);
        break;
      case "eat-heap": {
        const eaten = [];
        for (;;) eaten.push(new Array(CHUNK).fill(eaten.length));
      }
    }
    return now();
  };
}
