import type { Listener, ListenerMode } from "../../core/model/listener.ts";
import { keyOf } from "../../core/model/object.ts";
import { parseKind } from "../../core/model/parse.ts";
import { invalid, type Problem } from "../../core/model/problems.ts";
import type { EnginePort } from "../engine-port.ts";
import type { ResourceName } from "../resource-names.ts";
import type { Cell } from "../result.ts";
import { type ActionTexts, actionsOf } from "./actions.ts";
import type { DesiredResource } from "./desired-resource.ts";
import type { Field } from "./fields.ts";
import { namesOf, type ObjectResource, planners, recordsOf } from "./object-resource.ts";
import { resourceOfListener } from "./references.ts";

export interface ListenerOptions {
  readonly type: ResourceName;
  readonly mode: ListenerMode;
  readonly fields: readonly Field<Listener>[];
}

/** What all listeners have in common, each with the parameters of its own. */
export function listenerObjects({
  type,
  mode,
  fields,
}: ListenerOptions): ObjectResource<"Listener"> {
  return {
    type,
    kind: "Listener",
    fields,
    standard: parseKind("Listener", {
      name: "-",
      mode,
      address: "127.0.0.1",
      port: 1,
      service: "-/-",
    }),
    isOne: (listener) => resourceOfListener(listener) === type,
    check: checkTls,
    details: totalsOf,
  };
}

/** Authorities for clients are asked of in TLS, which needs a certificate. */
function checkTls({ tls }: Listener, problems: Problem[]): void {
  if (tls === undefined || tls.certificates.length > 0) return;
  const [what, value] =
    tls.clientCaFile === "" ? ["peers", tls.peers] : ["client-ca", tls.clientCaFile];
  problems.push(invalid([what], value, "cert-key too: clients are asked in TLS only"));
}

function totalsOf(
  engine: EnginePort | undefined,
): (listener: Listener) => Readonly<Record<string, Cell>> {
  const all = engine?.listenerTotals();
  return (listener) => {
    const totals = all?.get(keyOf(listener));
    return {
      connections: totals?.connections ?? 0,
      "total-connections": totals?.totalConnections ?? 0,
      "bytes-in": totals?.bytesIn ?? 0,
      "bytes-out": totals?.bytesOut ?? 0,
    };
  };
}

export interface ListenerAbout
  extends Pick<ActionTexts, "one" | "many" | "add" | "update" | "refused"> {
  readonly shorts: readonly string[];
  readonly summary: string;
  readonly example: string;
}

export function listenerResource(
  objects: ObjectResource<"Listener">,
  about: ListenerAbout,
): DesiredResource {
  return {
    spec: {
      name: objects.type,
      shorts: about.shorts,
      summary: about.summary,
      section: "module",
      isSystem: false,
      scopes: [
        {
          within: [[]],
          actions: actionsOf(objects.fields, {
            ...about,
            place: "",
            remove: "; it listens no more, and open connections go on until they end by themselves",
          }),
        },
      ],
    },
    plans: planners(objects),
    names: ({ view }) => namesOf(objects, view),
    records: (call) => recordsOf(objects, call),
  };
}
