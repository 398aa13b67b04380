import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { ERRNO } from "../errno.ts";
import { AF_UNIX, abiOf, EPOLLIN, SCM_MAX_FD, SOCK_SEQPACKET } from "./abi.ts";
import { receiveDescriptors, sendDescriptors } from "./descriptor-passing.ts";
import { Epoll } from "./epoll.ts";
import { openEventFd, signalEventFd } from "./event-fd.ts";
import { raiseFileLimit } from "./file-limit.ts";
import { close, read, splice, write } from "./io-calls.ts";
import { allocateNative, getSize, putSize } from "./native-memory.ts";
import { openPipe } from "./pipe.ts";
import { socketpair } from "./socket-calls.ts";
import { checked } from "./system-error.ts";

function closeAtEnd(...descriptors: readonly number[]): void {
  onTestFinished(() => {
    for (const descriptor of descriptors) close(descriptor);
  });
}

function pair(): readonly [number, number] {
  const ends = allocateNative(8);
  checked("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET, ends.address));
  const [a, b] = [ends.view.getInt32(0, true), ends.view.getInt32(4, true)];
  closeAtEnd(a, b);
  return [a, b];
}

test("the layout of epoll_event and the number of bpf(2) are known for x64 and arm64", () => {
  expect(abiOf("x64")).toEqual({ epollEventWords: 3, epollDataWord: 1, bpfCall: 321 });
  expect(abiOf("arm64")).toEqual({ epollEventWords: 4, epollDataWord: 2, bpfCall: 280 });
  expect(abiOf("ia32")).toBeUndefined();
});

describe("Linux calls", requires("linux"), () => {
  test("errors come back as negative numbers, and as errors that name the call", () => {
    const memory = allocateNative(8);
    expect(read(-1, memory.address, 8)).toBe(-ERRNO.EBADF);
    expect(() => checked("read", -ERRNO.EBADF, "the journal")).toThrow(
      "read of the journal failed: EBADF",
    );
  });

  test("sizes are written as 64 bits", () => {
    const { view } = allocateNative(8);
    putSize(view, 0, 2 ** 40 + 5);
    expect(getSize(view, 0)).toBe(2 ** 40 + 5);
    expect(view.getBigUint64(0, true)).toBe(2n ** 40n + 5n);
  });

  test("epoll gives slot and generation back, all 32 bits of each", () => {
    const epoll = new Epoll(4);
    const event = openEventFd();
    closeAtEnd(epoll.descriptor, event);
    expect(epoll.add(event, EPOLLIN, 0xfffffffe, 0x80000001)).toBe(0);
    expect(epoll.wait(0)).toBe(0);
    expect(signalEventFd(event)).toBe(0);
    expect(epoll.wait(-1)).toBe(1);
    expect(epoll.slotAt(0)).toBe(0xfffffffe);
    expect(epoll.generationAt(0)).toBe(0x80000001);
    expect(epoll.eventsAt(0)).toBe(EPOLLIN);
    expect(epoll.remove(event)).toBe(0);
    expect(epoll.wait(0)).toBe(0);
    expect(epoll.remove(event)).toBe(-ERRNO.ENOENT);
  });

  test("several events are told apart", () => {
    const epoll = new Epoll(8);
    closeAtEnd(epoll.descriptor);
    for (const slot of [1, 2, 3]) {
      const event = openEventFd();
      closeAtEnd(event);
      epoll.add(event, EPOLLIN, slot, slot * 10);
      signalEventFd(event);
    }
    expect(epoll.wait(-1)).toBe(3);
    const seen = [0, 1, 2].map((index) => [epoll.slotAt(index), epoll.generationAt(index)]);
    expect(seen.sort()).toEqual([
      [1, 10],
      [2, 20],
      [3, 30],
    ]);
  });

  test("a pipe moves bytes that nobody sees", () => {
    const [one, two] = [openPipe(65_536), openPipe(65_536)];
    if (one === undefined || two === undefined) throw new Error("no pipes");
    closeAtEnd(one.readEnd, one.writeEnd, two.readEnd, two.writeEnd);
    expect(one.capacityBytes).toBe(65_536);
    const memory = allocateNative(16);
    memory.bytes.set(Buffer.from("unseen"));
    expect(write(one.writeEnd, memory.address, 6)).toBe(6);
    expect(splice(one.readEnd, two.writeEnd, 100, 0)).toBe(6);
    memory.bytes.fill(0);
    expect(read(two.readEnd, memory.address, 16)).toBe(6);
    expect(Buffer.from(memory.bytes.subarray(0, 6)).toString()).toBe("unseen");
  });

  test("descriptors pass over a unix socket", () => {
    const [from, to] = pair();
    const events = [openEventFd(), openEventFd()];
    closeAtEnd(...events);
    sendDescriptors(from, Buffer.from("two of them"), events);
    const { bytes, descriptors } = receiveDescriptors(to, 100);
    closeAtEnd(...descriptors);
    expect(Buffer.from(bytes).toString()).toBe("two of them");
    expect(descriptors).toHaveLength(2);
    const target = (fd: number | undefined): string => readlinkSync(`/proc/self/fd/${fd}`);
    expect(descriptors.map(target)).toEqual(events.map(target));
    expect(descriptors).not.toEqual(events);
    sendDescriptors(from, Buffer.from("none"), []);
    expect(receiveDescriptors(to, 100).descriptors).toEqual([]);
  });

  test("as many descriptors as the kernel lets one message have", () => {
    const [from, to] = pair();
    const event = openEventFd();
    closeAtEnd(event);
    sendDescriptors(from, Buffer.from("x"), new Array<number>(SCM_MAX_FD).fill(event));
    const { descriptors } = receiveDescriptors(to, 1);
    closeAtEnd(...descriptors);
    expect(descriptors).toHaveLength(SCM_MAX_FD);
    expect(() =>
      sendDescriptors(from, Buffer.from("x"), new Array<number>(SCM_MAX_FD + 1).fill(event)),
    ).toThrow("at most 253");
  });

  test("the limit of open files is raised to the hard one", () => {
    const limit = raiseFileLimit();
    const line = /Max open files\s+(\d+)\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8"));
    expect([Number(line?.[1]), Number(line?.[2])]).toEqual([limit, limit]);
    expect(existsSync("/proc/self/fd")).toBe(true);
  });
});
