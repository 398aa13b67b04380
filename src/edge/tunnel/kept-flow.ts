import { ipOfWords, wordsOfIp } from "../../wire/ip/address-words.ts";
import { swapPorts } from "../../wire/ip/ip-packet.ts";
import type { Flow, FlowPlan } from "../flows/flow.ts";

/** A connection as another process can go on with it. */
export interface KeptFlow {
  readonly id: number;
  readonly protocol: number;
  readonly client: string;
  readonly service: string;
  /** As `IpPacket.ports`, of the client. */
  readonly ports: number;
  /** How the client looks to the server. */
  readonly source: string;
  readonly server: string;
  readonly sentPorts: number;
  /** How the ends of an answer look when it comes here. */
  readonly answeredBy: string;
  readonly answeredTo: string;
}

export function keptFlowOf(id: number, { plan }: Pick<Flow<unknown>, "plan">): KeptFlow {
  const { protocol, asked, sent, answered } = plan;
  return {
    id,
    protocol,
    client: ipOfWords(asked.source),
    service: ipOfWords(asked.destination),
    ports: asked.ports,
    source: ipOfWords(sent.source),
    server: ipOfWords(sent.destination),
    sentPorts: sent.ports,
    answeredBy: ipOfWords(answered.source),
    answeredTo: ipOfWords(answered.destination),
  };
}

export function flowPlanOf(kept: KeptFlow): FlowPlan {
  const { protocol, ports, sentPorts } = kept;
  const [client, service] = [wordsOfIp(kept.client), wordsOfIp(kept.service)];
  const answered = {
    source: wordsOfIp(kept.answeredBy),
    destination: wordsOfIp(kept.answeredTo),
    ports: swapPorts(sentPorts),
  };
  return {
    protocol,
    asked: { source: client, destination: service, ports },
    sent: { source: wordsOfIp(kept.source), destination: wordsOfIp(kept.server), ports: sentPorts },
    answered,
    returned: { source: service, destination: client, ports: swapPorts(ports) },
  };
}
