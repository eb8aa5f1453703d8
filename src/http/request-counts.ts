import type { MetricFamily } from "../features/metrics/metrics";

/** Limit of labels for statuses, more than the service answers with. The last one is "other". */
const STATUSES_MAX = 32;

/** Labels of a route's metrics. */
interface CountedRoute {
  method: string;
  /** The pattern. */
  path: string;
}

const NO_ROUTE: CountedRoute = { method: "none", path: "none" };

/** Number of responses of each route by status since the start. */
export class RequestCounts {
  /** The first is for requests without a route. */
  readonly #routes: CountedRoute[] = [NO_ROUTE];
  /** By route, and within a route by the label of the status. */
  readonly #counts = [new Map<string, number>()];
  /** Labels of the statuses; further ones are counted as "other". */
  readonly #labels = new Map<number, string>();

  /** Adds routes to be counted. */
  add(routes: readonly CountedRoute[]): void {
    this.#routes.push(...routes);
    this.#counts.push(...routes.map(() => new Map<string, number>()));
  }

  /** Counts an answer. `index` is the position of its route among the declared ones; undefined for none. */
  record(index: number | undefined, status: number): void {
    const counts = this.#counts[index === undefined ? 0 : index + 1];
    const label = this.#labels.get(status) ?? this.#addLabel(status);
    counts?.set(label, (counts.get(label) ?? 0) + 1);
  }

  #addLabel(status: number): string {
    if (this.#labels.size >= STATUSES_MAX - 1) return "other";
    const label = String(status);
    this.#labels.set(status, label);
    return label;
  }

  /** Returns the counts as metrics. Labels contain the pattern of the route, never text of a caller. */
  families(): MetricFamily[] {
    const [routes, counts] = [this.#routes, this.#counts];
    return [
      {
        type: "counter",
        name: "allclear_http_requests_total",
        help: "Requests that were answered, by route and status; none is the route of unknown paths and methods.",
        labelNames: ["method", "route", "status"],
        *read() {
          for (const [index, { method, path }] of routes.entries()) {
            for (const [status, value] of counts[index] ?? []) {
              yield { labels: { method, route: path, status }, value };
            }
          }
        },
      },
    ];
  }
}
