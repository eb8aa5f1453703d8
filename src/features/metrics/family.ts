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
