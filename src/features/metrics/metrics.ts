import { setImmediate } from "node:timers/promises";
import type { Registry } from "prom-client";
import type { Clock } from "../../base/clock";

/** A value of a family with its labels. */
interface Sample {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/**
 * Values of one name, read at each request. Labels name kinds of things, never values that callers
 * send, and contain no secrets.
 */
export interface MetricFamily {
  /** Name by Prometheus's rules: `allclear_…`, in base units, ending in `_total` for counters. */
  name: string;
  help: string;
  /** Type. A counter only rises, from zero at the start of the server. */
  type: "counter" | "gauge";
  labelNames?: readonly string[];
  read(): Iterable<Sample>;
}

/** Returns a family with a single value. */
export function single(
  type: MetricFamily["type"],
  name: string,
  help: string,
  read: () => number,
): MetricFamily {
  return { type, name, help, read: () => [{ value: read() }] };
}

/** Text that a monitoring system reads. */
interface Exposition {
  contentType: string;
  text: string;
}

/** All metrics of one application. */
export interface Metrics {
  /** Adds families. Throws for a name that exists. */
  add(...families: readonly MetricFamily[]): void;
  /** Returns the current values in Prometheus's text format. */
  expose(): Promise<Exposition>;
}

/**
 * Creates the metrics. Families read values that modules already have. The library that writes the
 * format is loaded at the first request.
 */
export function createMetrics(clock: Pick<Clock, "monotonic">): Metrics {
  const families = new Map<string, MetricFamily>();
  let registry: Promise<Registry> | undefined;
  let lagSeconds = 0;

  function add(...added: readonly MetricFamily[]): void {
    for (const family of added) {
      if (families.has(family.name)) throw new Error(`the metric ${family.name} already exists`);
      families.set(family.name, family);
    }
    // The registry lacks the new families.
    registry = undefined;
  }

  add({
    type: "gauge",
    name: "allclear_event_loop_lag_seconds",
    help: "Delay of a ready task in the event loop, measured at this request.",
    read: () => [{ value: lagSeconds }],
  });

  return {
    add,
    async expose() {
      registry ??= createRegistry([...families.values()]);
      const made = await registry;
      const requestedAt = clock.monotonic();
      await setImmediate();
      lagSeconds = (clock.monotonic() - requestedAt) / 1_000;
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
