import type { Action } from "../command.ts";
import type { EngineChannel } from "../engine-port.ts";
import type { ActionCall, ActionHandler, ResourceHandler } from "../resource-handler.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ActionSpec, ResourceSpec } from "../resource-spec.ts";
import { notFound } from "../resources/refusals.ts";
import type { Result, ResultRecord } from "../result.ts";
import { channelName } from "./channel-records.ts";
import { engineOf } from "./engine-of.ts";
import { namePattern } from "./name-pattern.ts";
import { isWithin, scopeOf } from "./scope.ts";

/** A kind of channel as commands see it. */
export interface ChannelResource {
  readonly spec: ResourceSpec;
  readonly kind: EngineChannel["kind"];
  /** Several of them: `connections`. */
  readonly many: string;
  readonly record: (channel: EngineChannel) => ResultRecord;
}

/** What the manual says of channels. */
export interface ChannelTexts {
  readonly name: ResourceName;
  readonly one: string;
  readonly many: string;
  /** An example of its name. */
  readonly example: string;
}

export function listActions({ name, many }: ChannelTexts): Partial<Record<Action, ActionSpec>> {
  return {
    list: {
      help: `Shows the names of the ${many} that are open now`,
      params: [],
      examples: [`list ${name} in tcp-lb lb0`, `list ${name} in event-loop worker-1`],
    },
    "list-detail": {
      help: `Shows the ${many} that are open now with what they have moved`,
      params: [],
      examples: [`list-detail ${name} in tcp-lb lb0`],
    },
  };
}

export function removeActions(texts: ChannelTexts): Partial<Record<Action, ActionSpec>> {
  const { name, one, many, example } = texts;
  return {
    remove: {
      help: `Closes ${one} by its name, or all ${many} whose names a regular expression between slashes fits; what belongs together is closed together`,
      params: [],
      examples: [
        `remove ${name} ${example} from tcp-lb lb0`,
        `remove ${name} /10\\.0\\.0\\.7:/ from tcp-lb lb0`,
      ],
    },
  };
}

export function channelHandler(resource: ChannelResource): ResourceHandler {
  const { spec, record } = resource;
  const actions: Partial<Record<Action, ActionHandler>> = {
    list: async (call) => {
      const names = (await openIn(resource, call)).map(channelName);
      return { kind: "names", names };
    },
    "list-detail": async (call) => {
      const records = (await openIn(resource, call)).map(record);
      return { kind: "records", records };
    },
  };
  const isRemovable = spec.scopes.some((scope) => scope.actions.remove !== undefined);
  if (isRemovable) actions.remove = (call) => close(resource, call);
  return { spec, actions };
}

async function openIn(
  { kind }: ChannelResource,
  { within, world }: ActionCall,
): Promise<readonly EngineChannel[]> {
  const engine = engineOf(world);
  const scope = scopeOf(within, world);
  const channels = await engine.channels();
  return channels.filter((channel) => channel.kind === kind && isWithin(channel, scope));
}

async function close(resource: ChannelResource, call: ActionCall): Promise<Result> {
  const { command, world } = call;
  const pattern = namePattern(command.name);
  const engine = engineOf(world);
  const channels = await openIn(resource, call);
  const meant = pattern.choose(channels, channelName);
  const closed = await Promise.all(meant.map(({ id }) => engine.closeChannel(id)));
  const count = closed.filter((isClosed) => isClosed).length;
  if (count === 0 && !pattern.isPattern) {
    throw notFound(resource.spec.name, command.name, channels.map(channelName));
  }
  const what = count === 1 ? resource.spec.name : resource.many;
  return { kind: "done", note: `${count} ${what} closed` };
}
