import { expect, test } from "vitest";
import { RESET, SYNC } from "../view/ops.ts";
import { createDecoderSink, type Decoder, serviceOfPath } from "./decoder.ts";
import { del, play, REQUEST, setEndpoint, setNode, setService } from "./sink.fixture.ts";

function createLog(further: Decoder["further"] = {}): { decoder: Decoder; calls: string[] } {
  const calls: string[] = [];
  const decoder: Decoder = {
    setup: () => void calls.push("setup"),
    waitRequest: () => {
      calls.push("waitRequest");
      return REQUEST;
    },
    setService: (service) => void calls.push(`setService ${service.key}`),
    deleteService: (key) => void calls.push(`deleteService ${key}`),
    setEndpoint: (endpoint) => void calls.push(`setEndpoint ${endpoint.path}`),
    deleteEndpoint: (path, service) => void calls.push(`deleteEndpoint ${path} of ${service}`),
    sync: () => void calls.push("sync"),
    reset: () => void calls.push("reset"),
    further,
  };
  return { decoder, calls };
}

test("calls one handler for each operation, in order", async () => {
  const { decoder, calls } = createLog();
  const sink = createDecoderSink(decoder);
  await sink.setup();
  expect(await sink.waitRequest()).toBe(REQUEST);
  await play(sink, [
    RESET,
    setService("web"),
    setEndpoint("web", "a"),
    del("endpoints", "default/web/a"),
    del("services", "default/web"),
    SYNC,
  ]);
  expect(calls).toEqual([
    "setup",
    "waitRequest",
    "reset",
    "setService default/web",
    "setEndpoint default/web/a",
    "deleteEndpoint default/web/a of default/web",
    "deleteService default/web",
    "sync",
  ]);
});

test("hands further sets to their handlers and passes over those without one", async () => {
  const seen: string[] = [];
  const { decoder, calls } = createLog({
    nodes: {
      set: (path, node) => void seen.push(`${path} in ${node.zone}`),
      delete: (path) => void seen.push(`no ${path}`),
    },
  });
  await play(createDecoderSink(decoder), [
    setNode("node-b", "z1"),
    del("nodes", "node-b"),
    del("listeners", "default/web"),
  ]);
  expect(seen).toEqual(["node-b in z1", "no node-b"]);
  expect(calls).toEqual([]);
});

test("settles a sync when the decoder's own settles", async () => {
  const { decoder } = createLog();
  const failing = { ...decoder, sync: () => Promise.reject(new Error("no kernel")) };
  await expect(createDecoderSink(failing).send(SYNC)).rejects.toThrow("no kernel");
});

test("finds the service at the head of an endpoint's path", () => {
  expect(serviceOfPath("default/web/pod-1@slice")).toBe("default/web");
  expect(serviceOfPath("default/web/group/pod-1")).toBe("default/web");
});
