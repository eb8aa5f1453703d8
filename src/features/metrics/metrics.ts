import { setImmediate } from "node:timers/promises";
import type { Registry } from "prom-client";
import type { Clock } from "../../kernel/clock";

/** One figure of a family, told apart from the others by its labels. */
export interface Sample {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/**
 * Figures of one name, read anew whenever somebody asks. Labels stand for kinds of things, never for
 * values that callers send, and hold no secrets.
 */
export interface MetricFamily {
  /** By Prometheus's rules: `allclear_…`, in base units, a counter's ending in `_total`. */
  name: string;
  help: string;
  /** A counter only ever rises, from zero at the start of the server. */
  type: "counter" | "gauge";
  labelNames?: readonly string[];
  read(): Iterable<Sample>;
}

/** A family of one figure. */
export function single(
  type: MetricFamily["type"],
  name: string,
  help: string,
  read: () => number,
): MetricFamily {
  return { type, name, help, read: () => [{ value: read() }] };
}

/** Text that a monitoring system scrapes. */
interface Exposition {
  contentType: string;
  text: string;
}

/** All families of one application. */
export interface Metrics {
  /** Adds families of a room; each name once. */
  add(...families: readonly MetricFamily[]): void;
  /** The figures as they are now, in Prometheus's text format. */
  expose(): Promise<Exposition>;
}

/**
 * Nothing is counted here: families read what their rooms keep anyway, when it is asked for. The library
 * that writes the format is loaded at the first asking.
 */
export function createMetrics(clock: Pick<Clock, "monotonic">): Metrics {
  const families = new Map<string, MetricFamily>();
  let registry: Promise<Registry> | undefined;
  let lagSeconds = 0;

  function add(...added: readonly MetricFamily[]): void {
    for (const family of added) {
      if (families.has(family.name)) throw new Error(`the metric ${family.name} is there already`);
      families.set(family.name, family);
    }
    // What was made of those that were there before lacks the new ones.
    registry = undefined;
  }

  add({
    type: "gauge",
    name: "allclear_event_loop_lag_seconds",
    help: "How long a task that was ready waited for its turn, when this was asked for.",
    read: () => [{ value: lagSeconds }],
  });

  return {
    add,
    async expose() {
      registry ??= createRegistry([...families.values()]);
      const made = await registry;
      const asked = clock.monotonic();
      await setImmediate();
      lagSeconds = (clock.monotonic() - asked) / 1_000;
      return { contentType: made.contentType, text: await made.metrics() };
    },
  };
}

async function createRegistry(families: readonly MetricFamily[]): Promise<Registry> {
  const { Counter, Gauge, Registry } = await import("prom-client");
  const registry = new Registry();
  for (const { type, name, help, labelNames = [], read } of families) {
    const declared = { name, help, labelNames, registers: [registry] };
    if (type === "gauge") {
      new Gauge({
        ...declared,
        collect() {
          this.reset();
          for (const { labels = {}, value } of read()) this.set(labels, value);
        },
      });
    } else {
      new Counter({
        ...declared,
        collect() {
          this.reset();
          for (const { labels = {}, value } of read()) this.inc(labels, value);
        },
      });
    }
  }
  return registry;
}
