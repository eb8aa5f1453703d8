import { expect, test } from "bun:test";
import fc from "fast-check";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { pauseMonitor, resumeMonitor } from "../../../../src/features/monitors/monitors";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { answers, type EngineSite, fails, openEngineSite } from "../../../support/engine-site";

/** Position of the parent of each monitor of the tree; undefined for the root. */
const PARENTS = [undefined, 0, 0, 1, 3] as const;

/** Checks closer together than this may begin together. The model does not say in which order they do. */
const TOGETHER_MS = 200;

/** A monitor as the documentation describes it. */
interface Node {
  parent: Node | undefined;
  failureThreshold: number;
  successThreshold: number;
  /** True if its target answers. */
  isWell: boolean;
  state: "pending" | "up" | "down" | "unreachable" | "paused";
  failures: number;
  successes: number;
  /** Last state that was known. */
  known: "up" | "down";
  events: string[];
}

const isFailing = ({ state, failures }: Node) =>
  state === "down" || state === "unreachable" || failures > 0;

/** Checks some monitors at the same time, and then those that are no longer prevented by one of them. */
function check(nodes: readonly Node[], all: readonly Node[], checked = new Set<Node>()): Set<Node> {
  const done = new Set<Node>();
  const freed = new Set<Node>();
  const checkOne = (node: Node) => {
    if (done.has(node) || node.state === "paused") return;
    done.add(node);
    checked.add(node);
    const { parent } = node;
    const isParentUnclear = parent && !isFailing(parent) && node.state !== "down";
    if (!node.isWell && isParentUnclear) checkOne(parent);
    const wasFailing = isFailing(node);
    count(node);
    if (!wasFailing || isFailing(node)) return;
    for (const child of all) {
      if (child.parent === node && child.state === "unreachable") freed.add(child);
    }
  };
  for (const node of nodes) checkOne(node);
  return freed.size > 0 ? check([...freed], all, checked) : checked;
}

function count(node: Node): void {
  if (node.isWell) {
    node.failures = 0;
    const isOut = node.state === "down" || node.state === "unreachable";
    node.successes = isOut ? node.successes + 1 : node.successThreshold;
    if (node.successes >= node.successThreshold) enter(node, "up");
    return;
  }
  node.successes = 0;
  const { parent } = node;
  if (parent && parent.state !== "paused" && isFailing(parent)) {
    node.failures = 0;
    node.state = "unreachable";
  } else if (node.state !== "down") {
    node.failures += 1;
    if (node.failures >= node.failureThreshold) enter(node, "down");
  }
}

function enter(node: Node, state: "up" | "down"): void {
  node.state = state;
  node.failures = 0;
  node.successes = 0;
  if (node.known !== state) node.events.push(`monitor.${state}`);
  node.known = state;
}

const arbitraryStep = fc.record({
  kind: fc.oneof(
    { arbitrary: fc.constantFrom("fail", "recover"), weight: 6 },
    { arbitrary: fc.constantFrom("break", "mend", "pause", "resume"), weight: 1 },
  ),
  which: fc.integer({ min: 0, max: PARENTS.length - 1 }),
});
const arbitraryRareStep = fc.record({
  kind: fc.constantFrom("restart", "set the clock back"),
  which: fc.constant(0),
});
const arbitraryHistory = fc.record({
  thresholds: fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 })), {
    minLength: PARENTS.length,
    maxLength: PARENTS.length,
  }),
  steps: fc.array(
    fc.oneof({ arbitrary: arbitraryStep, weight: 12 }, { arbitrary: arbitraryRareStep, weight: 1 }),
    { minLength: 1, maxLength: 40, size: "max" },
  ),
});

/** Makes the monitors of the tree, which are checked only when that is asked for, or needed. */
async function plant(site: EngineSite, thresholds: readonly (readonly [number, number])[]) {
  const nodes: Node[] = [];
  const ids: string[] = [];
  for (const [index, position] of PARENTS.entries()) {
    const [failure_threshold, success_threshold] = thresholds[index] ?? [1, 1];
    const day = 24 * 3_600;
    const { id } = await site.monitor({
      name: `m${index}`,
      interval_seconds: day,
      retry_interval_seconds: day,
      failure_threshold,
      success_threshold,
      depends_on: position === undefined ? [] : [ids[position] ?? ""],
    });
    ids.push(id);
    nodes.push({
      parent: position === undefined ? undefined : nodes[position],
      failureThreshold: failure_threshold,
      successThreshold: success_threshold,
      isWell: true,
      state: "up",
      failures: 0,
      successes: 0,
      known: "up",
      events: [],
    });
  }
  await site.clock.advance(2 * SECOND_MS);
  return { nodes, ids };
}

test("a random history of checks of a tree gives the states and the events of a simple model", async () => {
  const property = fc.asyncProperty(arbitraryHistory, async ({ thresholds, steps }) => {
    await using site = await openEngineSite();
    const { nodes, ids } = await plant(site, thresholds);
    const { ctx } = site.app;
    const planned = () => ids.map((id) => site.engine.nextCheckAt(id) ?? Infinity);

    /** Checks all monitors after a start. Returns false if the order is not certain. */
    async function restart(): Promise<boolean> {
      site.kill();
      await site.clock.advance(SECOND_MS);
      await site.start();
      const dueAt = new Map(nodes.map((node, index) => [node, planned()[index] ?? 0]));
      const sorted = [...dueAt.values()].filter(Number.isFinite).sort((a, b) => a - b);
      const isCertain = sorted.every((at, i) => at - (sorted[i - 1] ?? 0) > TOGETHER_MS);
      while (dueAt.size > 0) {
        const [first] = [...dueAt].sort(([, a], [, b]) => a - b)[0] ?? [];
        if (!first) break;
        dueAt.delete(first);
        for (const node of check([first], nodes)) dueAt.delete(node);
      }
      await site.clock.advance(MINUTE_MS + SECOND_MS);
      return isCertain;
    }

    for (const [index, { kind, which }] of steps.entries()) {
      // A check that comes due by itself is none of the model's.
      if (Math.min(...planned()) < site.clock.now() + 2 * MINUTE_MS) return;
      const node = nodes[which] as Node;
      const id = ids[which] ?? "";
      if (["fail", "recover", "break", "mend"].includes(kind)) {
        node.isWell = kind === "recover" || kind === "mend";
        site.let(`m${which}.test`, node.isWell ? answers() : fails());
      }
      if ((kind === "fail" || kind === "recover") && node.state !== "paused") {
        const checked = site.engine.checkNow(id);
        check([node], nodes);
        await site.clock.advance(SECOND_MS);
        await checked;
      } else if (kind === "pause" && node.state !== "paused") {
        await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
        Object.assign(node, { state: "paused", failures: 0, successes: 0 });
        const freed = nodes.filter(
          ({ parent, state }) => parent === node && state === "unreachable",
        );
        check(freed, nodes);
      } else if (kind === "resume" && node.state === "paused") {
        await ctx.db.write((tx) => resumeMonitor(ctx, tx, id, CLI_ACTOR));
        node.state = "pending";
        check([node], nodes);
      } else if (kind === "restart") {
        if (!(await restart())) return;
      } else if (kind === "set the clock back") {
        site.clock.setWallClock(site.clock.now() - HOUR_MS);
      }
      await site.clock.advance(2 * SECOND_MS);
      const context = `step ${index}: ${kind} ${which}`;
      expect(
        ids.map((each) => site.state(each)),
        context,
      ).toEqual(nodes.map(({ state }) => state));
      for (const [position, each] of nodes.entries()) {
        const via = getMonitorRecord(ctx.db, ids[position] ?? "").state.unreachableVia;
        const parent = each.parent && ids[nodes.indexOf(each.parent)];
        expect(via, context).toBe(each.state === "unreachable" ? (parent ?? null) : null);
      }
    }
    for (const [position, { events }] of nodes.entries()) {
      const sent = site.app.events().filter(({ subjectId }) => subjectId === ids[position]);
      expect(
        sent.map(({ type }) => type).filter((type) => /^monitor\.(up|down)/.test(type)),
      ).toEqual(events);
    }
  });
  await fc.assert(property, { numRuns: 15 });
});
