import type { Charge } from "../features/limits";
import type { DomainPage } from "../features/pages";
import type { ClientAddress } from "../kernel/client-address";
import type { Problem } from "../errors";
import type { RequestContext, Caller } from "./request-context";
import type { IncomingBody } from "./incoming-body";
import type { Route } from "./route-table";

/** Functions for facts that are too expensive to find out for every request. */
export interface ContextDependencies {
  addressOf(request: Request, peer: PeerOf): ClientAddress;
  /** Throws a Problem if the caller's credential opens nothing any more. */
  confirm(context: GatewayContext): void;
}

/** The address of the socket that a request came by. Asking costs a system call. */
export type PeerOf = (request: Request) => string;

export const NOBODY: Caller = { kind: "address" };

/**
 * One request on its way through the door, and what the door has found out about it so far. One
 * object a request, without closures: the door's own work is a good part of what a small answer costs.
 */
export class GatewayContext implements RequestContext {
  route: Route | undefined = undefined;
  caller: Caller = NOBODY;
  domain: DomainPage | undefined = undefined;
  charge: Charge | undefined = undefined;
  failure: Problem | undefined = undefined;
  hasRequestHeaders = false;
  /** The body, once room was reserved for it; undefined for a request without one. */
  body: IncomingBody | undefined = undefined;
  /** Arrival on the monotonic clock; set only if requests are logged. */
  since = 0;
  #address: ClientAddress | undefined = undefined;
  readonly #peer: PeerOf;
  readonly #deps: ContextDependencies;

  constructor(
    readonly request: Request,
    readonly requestId: string,
    /** Arrival in unix ms. */
    readonly now: number,
    peer: PeerOf,
    deps: ContextDependencies,
  ) {
    this.#peer = peer;
    this.#deps = deps;
  }

  /** Client address, found out at the first use. */
  get address(): ClientAddress {
    this.#address ??= this.#deps.addressOf(this.request, this.#peer);
    return this.#address;
  }

  confirm(): void {
    // Called once the body has been read.
    this.body?.release();
    this.#deps.confirm(this);
  }
}
