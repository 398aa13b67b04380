/** Parts of the built program that the demo uses; scripts are checked where there is no build yet. */

/** @returns {Promise<typeof import("../../src/daemon/instance-socket/client.ts")>} */
export function loadClient() {
  return load("daemon/instance-socket/client.js");
}

/** @returns {Promise<typeof import("../../src/daemon/instance-socket/state-folder.ts")>} */
export function loadStateFolder() {
  return load("daemon/instance-socket/state-folder.js");
}

/** @returns {Promise<typeof import("../../src/platform/linux/socket-holder.ts")>} */
export function loadSocketHolder() {
  return load("platform/linux/socket-holder.js");
}

/** @param {string} module */
function load(module) {
  return import(new URL(`../../dist/${module}`, import.meta.url).href);
}
