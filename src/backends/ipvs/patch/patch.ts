import type { EndpointInfo, ServiceInfo, ServiceType } from "../plan/service-info.ts";
import type { Operation } from "./operation.ts";

/** What the handler of a type does with a service, by operation. @param before only of an update */
export type ServiceHandlers = Readonly<
  Record<Operation, (service: ServiceInfo, before?: ServiceInfo) => void>
>;

/** The same with an endpoint of a service. */
export type EndpointHandlers = Readonly<
  Record<Operation, (endpoint: EndpointInfo, service: ServiceInfo, before?: EndpointInfo) => void>
>;

/** Knows how services of one type are served. */
export interface Handler {
  readonly service: ServiceHandlers;
  readonly endpoint: EndpointHandlers;
}

export type Handlers = Readonly<Record<ServiceType, Handler>>;

/** A service, and what is to be done with it. */
export class ServicePatch {
  readonly op: Operation;
  readonly service: ServiceInfo;
  readonly before: ServiceInfo | undefined;

  constructor(op: Operation, service: ServiceInfo, before?: ServiceInfo) {
    this.op = op;
    this.service = service;
    this.before = before;
  }

  apply(handlers: ServiceHandlers): void {
    handlers[this.op](this.service, this.before);
  }
}

/** An endpoint of a service, and what is to be done with it. */
export class EndpointPatch {
  readonly op: Operation;
  readonly endpoint: EndpointInfo;
  /** As it is where the endpoint is to be looked up: before it goes, or once it is there. */
  readonly service: ServiceInfo;
  readonly before: EndpointInfo | undefined;

  constructor(op: Operation, endpoint: EndpointInfo, service: ServiceInfo, before?: EndpointInfo) {
    this.op = op;
    this.endpoint = endpoint;
    this.service = service;
    this.before = before;
  }

  apply(handlers: EndpointHandlers): void {
    handlers[this.op](this.endpoint, this.service, this.before);
  }
}

/** In the order in which they are to be applied. */
export class EndpointPatches {
  readonly patches: readonly EndpointPatch[];

  constructor(patches: readonly EndpointPatch[]) {
    this.patches = patches;
  }

  apply(handlers: EndpointHandlers): void {
    for (const patch of this.patches) patch.apply(handlers);
  }
}

/**
 * All patches that depend on each other: those of one service and its endpoints. Groups do not depend
 * on each other, so that they may be applied in any order, or at once.
 */
export class PatchGroup {
  readonly service: ServicePatch;
  readonly endpoints: EndpointPatches;

  constructor(service: ServicePatch, endpoints: EndpointPatches) {
    this.service = service;
    this.endpoints = endpoints;
  }

  /** Names the service of the group. */
  get id(): string {
    return this.service.service.id;
  }

  apply(handlers: Handlers): void {
    const { service, endpoint } = handlers[this.service.service.type];
    // Endpoints go before their service does, and come after it.
    if (this.service.op === "Delete") {
      this.endpoints.apply(endpoint);
      this.service.apply(service);
    } else {
      this.service.apply(service);
      this.endpoints.apply(endpoint);
    }
  }
}
