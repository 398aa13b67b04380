import type { ProbeDirect } from "./preview-direct.ts";

/** Whether connections can be direct on this machine, whichever it is. */
export const probeDirectHere: ProbeDirect = async (cgroups) => {
  if (process.platform !== "linux") {
    return { what: `eBPF is of Linux; this is ${process.platform}`, remedy: "none" };
  }
  const { probeDirectPlane } = await import(
    "../platform/linux/direct-connect/open-direct-plane.ts"
  );
  return probeDirectPlane(cgroups);
};
