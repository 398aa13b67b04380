import type { ProbeFast } from "./preview-fast.ts";

/** Whether packets can take a fast path on this machine, whichever it is, and where. */
export const probeFastHere: ProbeFast = async () => {
  if (process.platform !== "linux") {
    const what = `eBPF is of Linux; this is ${process.platform}`;
    return { kind: "obstacle", what, remedy: "none" };
  }
  const { probeFastPlane } = await import("../platform/linux/fast-path/open-fast-plane.ts");
  const obstacle = probeFastPlane();
  if (obstacle !== undefined) return { kind: "obstacle", ...obstacle };
  const { LinkTable } = await import("../platform/linux/links/link-table.ts");
  const { plainEthernetLinks } = await import("../platform/linux/links/ethernet-links.ts");
  const table = new LinkTable();
  try {
    const links = await plainEthernetLinks(table);
    return { kind: "links", names: links.map(({ name }) => name) };
  } finally {
    table.close();
  }
};
