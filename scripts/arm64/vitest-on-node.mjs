/**
 * The words of vitest that our tests use, on `node:test`: vitest itself has native parts that are not
 * there for every processor. What is expected is checked by vitest's own matchers.
 */
import * as nodeTest from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
} from "@vitest/expect";
import * as chai from "chai";

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

/** @typedef {(...args: any[]) => void | Promise<void>} Body */
/** @typedef {number | { readonly timeout?: number, readonly skip?: boolean } | undefined} Options */

const DEFAULT_TIMEOUT_MS = 60_000;
/** What is emulated takes longer. */
const PATIENCE = 5;

/** @type {(() => unknown)[][]} of the tests that run now, the innermost last */
const finishers = [];

export const expect = Object.assign(
  (/** @type {unknown} */ value, /** @type {string} */ message) => chai.expect(value, message),
  chai.expect,
  Reflect.get(globalThis, ASYMMETRIC_MATCHERS_OBJECT),
  {
    /**
     * Each matcher of what it gives is tried until it holds.
     * @param {() => unknown} look
     */
    poll: (look, options = {}) =>
      new Proxy(
        {},
        {
          get:
            (_, matcher) =>
            (/** @type {unknown[]} */ ...args) =>
              vi.waitFor(async () => {
                const asserted = expect(await look());
                Reflect.get(asserted, matcher).apply(asserted, args);
              }, options),
        },
      ),
  },
);

/** @param {() => unknown} task */
export function onTestFinished(task) {
  finishers.at(-1)?.push(task);
}

export const test = Object.assign(
  (/** @type {string} */ name, /** @type {any} */ a, /** @type {any} */ b) =>
    add(name, ...inOrder(a, b)),
  {
    skipIf: (/** @type {boolean} */ isSkipped) => addUnless(add, isSkipped),
    runIf: (/** @type {boolean} */ isRun) => addUnless(add, !isRun),
    each:
      (/** @type {readonly unknown[]} */ table) =>
      (/** @type {string} */ name, /** @type {any} */ a, /** @type {any} */ b) => {
        const [body, options] = inOrder(a, b);
        table.forEach((row, index) => {
          add(`${name} #${index}`, () => body(...argumentsOf(row)), options);
        });
      },
  },
);

export const describe = Object.assign(
  (/** @type {string} */ name, /** @type {any} */ a, /** @type {any} */ b) =>
    addSuite(name, ...inOrder(a, b)),
  {
    skipIf: (/** @type {boolean} */ isSkipped) => addUnless(addSuite, isSkipped),
    runIf: (/** @type {boolean} */ isRun) => addUnless(addSuite, !isRun),
    each:
      (/** @type {readonly unknown[]} */ table) =>
      (/** @type {string} */ name, /** @type {any} */ a, /** @type {any} */ b) => {
        const [body, options] = inOrder(a, b);
        table.forEach((row, index) => {
          addSuite(`${name} #${index}`, () => body(...argumentsOf(row)), options);
        });
      },
  },
);

export const { after: afterAll, beforeEach, afterEach } = nodeTest;

/**
 * @param {() => unknown} task
 * @param {number} [timeoutMs]
 */
export function beforeAll(task, timeoutMs = DEFAULT_TIMEOUT_MS) {
  nodeTest.before(() => Promise.resolve(task()).then(() => undefined), {
    timeout: timeoutMs * PATIENCE,
  });
}

export const vi = {
  /**
   * Tries until it does not throw, or the time is over.
   * @param {() => unknown} attempt
   * @param {{ readonly timeout?: number, readonly interval?: number }} [options]
   */
  async waitFor(attempt, { timeout = 1000, interval = 50 } = {}) {
    const end = performance.now() + timeout * PATIENCE;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (performance.now() > end) throw error;
      }
      await delay(interval);
    }
  },
};

/**
 * @param {string} name
 * @param {Body} body
 * @param {Options} options
 */
function add(name, body, options) {
  const given = typeof options === "number" ? options : options?.timeout;
  const timeout = (given ?? DEFAULT_TIMEOUT_MS) * PATIENCE;
  void nodeTest.test(name, { timeout, skip: isSkipped(options) }, async () => {
    /** @type {(() => unknown)[]} */
    const own = [];
    finishers.push(own);
    try {
      await body({});
    } finally {
      for (const task of own.reverse()) await task();
      finishers.pop();
    }
  });
}

/**
 * @param {string} name
 * @param {Body} body
 * @param {Options} options
 */
function addSuite(name, body, options) {
  void nodeTest.describe(name, { skip: isSkipped(options) }, body);
}

/**
 * @param {typeof add | typeof addSuite} adder
 * @param {boolean} skip
 */
function addUnless(adder, skip) {
  return (/** @type {string} */ name, /** @type {any} */ a, /** @type {any} */ b) => {
    const [body, options] = inOrder(a, b);
    adder(name, body, skip ? { skip } : options);
  };
}

/** @param {Options} options */
function isSkipped(options) {
  return typeof options === "object" && options.skip === true;
}

/**
 * The options may come before the body or after it.
 * @param {any} a
 * @param {any} b
 * @returns {[Body, Options]}
 */
function inOrder(a, b) {
  return typeof a === "function" ? [a, b] : [b, a];
}

/** @param {unknown} row */
function argumentsOf(row) {
  return Array.isArray(row) ? row : [row];
}
