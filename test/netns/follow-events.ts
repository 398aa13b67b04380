import { get } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { EdgeStage } from "./edge-stage.ts";

/** All events that a node tells, as they come. */
export function followEvents(stage: EdgeStage): { until(pattern: RegExp): Promise<string> } {
  let text = "";
  let look = (): void => undefined;
  const headers = { "last-event-id": "0" };
  const socketPath = join(stage.folder, "edge.sock");
  const sent = get({ socketPath, path: "/events", headers }, (response) => {
    response.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      look();
    });
    response.on("error", () => undefined);
  });
  sent.on("error", () => undefined);
  onTestFinished(() => void sent.destroy());
  return {
    until: (pattern) =>
      new Promise((resolve) => {
        look = () => {
          if (pattern.test(text)) resolve(text);
        };
        look();
      }),
  };
}
