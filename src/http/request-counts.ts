import type { MetricFamily } from "../features/metrics";

/** More statuses than the service answers with; what is beyond them shares the last place. */
const STATUSES_MAX = 32;

/** What of a route its figures are told by. */
interface CountedRoute {
  method: string;
  /** The pattern. */
  path: string;
}

const NO_ROUTE: CountedRoute = { method: "none", path: "none" };

/** How often each route answered with each status since the start: an addition a request. */
export class RequestCounts {
  readonly #routes: readonly CountedRoute[];
  /** By route, and within a route by the place of the status. The last route stands for none. */
  readonly #counts: Float64Array;
  /** The places of the statuses, by status, counted from 1: 0 has none yet. */
  readonly #places = new Uint8Array(1_000);
  readonly #statuses: string[] = [];

  constructor(routes: readonly CountedRoute[]) {
    this.#routes = [...routes, NO_ROUTE];
    this.#counts = new Float64Array(this.#routes.length * STATUSES_MAX);
  }

  /** Counts an answer. `index` is the place of its route among the declared ones; undefined for none. */
  record(index: number | undefined, status: number): void {
    const place = this.#places[status] || this.#placeOf(status);
    const route = index ?? this.#routes.length - 1;
    const at = route * STATUSES_MAX + place - 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  #placeOf(status: number): number {
    if (this.#statuses.length === STATUSES_MAX - 1) this.#statuses.push("other");
    if (this.#statuses.length < STATUSES_MAX) this.#statuses.push(String(status));
    return (this.#places[status] = this.#statuses.length);
  }

  /** The same for metrics, by the route's pattern: what callers send stands in no label. */
  families(): MetricFamily[] {
    const [routes, statuses, counts] = [this.#routes, this.#statuses, this.#counts];
    return [
      {
        type: "counter",
        name: "allclear_http_requests_total",
        help: "Requests that were answered, by route and status; none is the route of unknown paths and methods.",
        labelNames: ["method", "route", "status"],
        *read() {
          for (const [index, { method, path }] of routes.entries()) {
            for (const [place, status] of statuses.entries()) {
              const value = counts[index * STATUSES_MAX + place] ?? 0;
              if (value > 0) yield { labels: { method, route: path, status }, value };
            }
          }
        },
      },
    ];
  }
}
