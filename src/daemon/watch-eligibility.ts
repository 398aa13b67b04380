import type { Node } from "../core/model/node.ts";
import type { Sink } from "../core/sinks/sink.ts";

/**
 * The same sink; at each sync it is told whether traffic from outside should stay away from this node:
 * where its Node object was deleted, is not alive, or is about to go. A node that was never known is
 * none of these.
 * @param tell why not; undefined where it may come
 */
export function watchEligibility(
  sink: Sink,
  nodeName: string,
  tell: (whyNot: string | undefined) => void,
): Sink {
  let node: Node | undefined;
  let wasKnown = false;
  return {
    setup: () => sink.setup(),
    waitRequest: () => sink.waitRequest(),
    reset: () => {
      node = undefined;
      sink.reset();
    },
    send: (op) => {
      if (op.op === "sync") {
        wasKnown ||= node !== undefined;
        tell(whyNot(node, nodeName, wasKnown));
      } else if (op.set === "nodes" && op.path === nodeName) {
        node = op.op === "set" ? op.value : undefined;
      }
      return sink.send(op);
    },
  };
}

function whyNot(node: Node | undefined, name: string, wasKnown: boolean): string | undefined {
  if (node === undefined) return wasKnown ? `node ${name} was deleted` : undefined;
  if (!node.alive) return `node ${name} is not alive`;
  return node.leaving === "" ? undefined : `node ${name}: ${node.leaving}`;
}
