import type { MetricFamily } from "../features/metrics";

/** Limit of counted statuses, more than the service answers with. Further ones are counted as "other". */
const STATUSES_MAX = 32;

/** Labels of a route's metrics. */
interface CountedRoute {
  method: string;
  /** The pattern. */
  path: string;
}

const NO_ROUTE: CountedRoute = { method: "none", path: "none" };

/**
 * Number of responses of each route by status since the start, at the cost of one addition per
 * request.
 */
export class RequestCounts {
  /** The first is for requests without a route. */
  readonly #routes: CountedRoute[] = [NO_ROUTE];
  /** By route, and within a route by the position of the status. */
  #counts = new Float64Array(STATUSES_MAX);
  /** Positions of the statuses by status, from 1; 0 for a status without a position. */
  readonly #positions = new Uint8Array(1_000);
  readonly #statuses: string[] = [];

  /** Adds routes to be counted. */
  add(routes: readonly CountedRoute[]): void {
    this.#routes.push(...routes);
    const counts = new Float64Array(this.#routes.length * STATUSES_MAX);
    counts.set(this.#counts);
    this.#counts = counts;
  }

  /** Counts an answer. `index` is the position of its route among the declared ones; undefined for none. */
  record(index: number | undefined, status: number): void {
    const position = this.#positions[status] || this.#addStatus(status);
    const route = index === undefined ? 0 : index + 1;
    const at = route * STATUSES_MAX + position - 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  #addStatus(status: number): number {
    if (this.#statuses.length === STATUSES_MAX - 1) this.#statuses.push("other");
    if (this.#statuses.length < STATUSES_MAX) this.#statuses.push(String(status));
    return (this.#positions[status] = this.#statuses.length);
  }

  /** Returns the counts as metrics. Labels contain the pattern of the route, never text of a caller. */
  families(): MetricFamily[] {
    const [routes, statuses] = [this.#routes, this.#statuses];
    const countAt = (at: number) => this.#counts[at] ?? 0;
    return [
      {
        type: "counter",
        name: "allclear_http_requests_total",
        help: "Requests that were answered, by route and status; none is the route of unknown paths and methods.",
        labelNames: ["method", "route", "status"],
        *read() {
          for (const [index, { method, path }] of routes.entries()) {
            for (const [at, status] of statuses.entries()) {
              const value = countAt(index * STATUSES_MAX + at);
              if (value > 0) yield { labels: { method, route: path, status }, value };
            }
          }
        },
      },
    ];
  }
}
