const STAND_IN = new URL("./vitest-on-node.mjs", import.meta.url).href;

/**
 * Gives tests our stand-in for vitest.
 * @type {import("node:module").ResolveHook}
 */
export async function resolve(specifier, context, next) {
  return specifier === "vitest" ? { url: STAND_IN, shortCircuit: true } : next(specifier, context);
}
