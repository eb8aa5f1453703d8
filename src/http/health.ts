/* Health checks of the process, and the readiness that they show. */
import type { Clock } from "../base/clock";
import type { Config } from "../base/config/options";
import { unavailable } from "../base/errors";
import type { Log } from "../base/log";
import { SECOND_MS } from "../base/time";
import type { Ctx } from "../context";
import { isUnreadable, STORAGE_FAULTS, type StorageFault, storageFaultOf } from "../db/errors";
import type { Reader } from "../db/statements";
import type { StorageState } from "../db/storage-watch";
import { findDefaultPage } from "../features/pages/store";
import type * as SchemasModule from "./health-schemas";
import { operation } from "./operation";
import type { PlainRoute } from "./route-table";

const RETRY_AFTER_SECONDS = 5;
const NOT_PRIMARY = "This server is not the primary of its fleet now.";

/** Describes an answer. Its schema is loaded with the first description of the API, since a start needs no TypeBox. */
function described(description: string, schema: keyof typeof SchemasModule) {
  return {
    description,
    get schema() {
      return (require("./health-schemas") as typeof SchemasModule)[schema];
    },
  };
}

/**
 * `/healthz` shows that the process answers, `/readyz` that it can serve pages, with the state of
 * the database, and `/readyz/write` that changes can be stored, by a write.
 */
export function healthRoutes(ctx: Ctx, readiness: Readiness): readonly PlainRoute[] {
  const { db } = ctx;

  function presentReadiness({ fault, isDamaged }: StorageState) {
    const shown = fault ?? (isDamaged ? "damaged" : undefined);
    return {
      status: "ok",
      writable: fault === undefined,
      reason: shown === undefined ? null : STORAGE_FAULTS[shown],
      ...readiness.nodeFields?.(),
    };
  }

  return [
    {
      path: "/healthz",
      handle: () => answer({ status: "ok" }),
      hooks: operation({
        id: "getHealth",
        summary: "Check that the process answers",
        tag: "Health",
        access: { kind: "health" },
        answers: { 200: described("The process answers.", "Health") },
      }),
    },
    {
      path: "/readyz",
      handle: () => {
        const unread = requirePages(readiness, db);
        const state = db.storage();
        return answer(presentReadiness({ ...state, fault: state.fault ?? unread }));
      },
      hooks: operation({
        id: "getReadiness",
        summary: "Check that the server can serve pages",
        description:
          "503 while the server shuts down or can serve no page. With a full disk, or one that fails to read while pages are in memory, pages are still served: the answer is 200, with `writable` and `reason`.",
        tag: "Health",
        access: { kind: "health" },
        answers: { 200: described("The server can serve pages.", "Ready") },
        errors: ["unavailable"],
      }),
    },
    {
      path: "/readyz/write",
      handle: async () => {
        requireReady(readiness, db);
        if (!ctx.isPrimary()) throw unavailable(NOT_PRIMARY, RETRY_AFTER_SECONDS);
        const state = await db.checkStorage();
        if (state.fault) throw unavailable(STORAGE_FAULTS[state.fault], RETRY_AFTER_SECONDS);
        return answer(presentReadiness(state));
      },
      hooks: operation({
        id: "getWriteReadiness",
        summary: "Check that changes can be stored",
        description:
          "503 with the reason while changes cannot be stored. Writes once to the disk if no change was stored in the last two seconds. For alerts; load balancers use `/readyz`.",
        tag: "Health",
        access: { kind: "health" },
        answers: { 200: described("Changes can be stored.", "Ready") },
        errors: ["unavailable"],
      }),
    },
  ];
}

function answer(body: object): Response {
  return Response.json(body, { headers: { "Cache-Control": "no-store" } });
}

/** Readiness of the server for traffic. */
export interface Readiness {
  isDraining: boolean;
  /** Returns the fields that answers of a node of a fleet have in addition; undefined on one machine. */
  nodeFields?: () => object;
  /** Reads a row. Throws when the database cannot be read. */
  probe(reader: Reader): void;
  /** True if there are pages in memory, which are served also while the database cannot be read. */
  hasPages(): boolean;
}

export function createReadiness(): Readiness {
  return {
    isDraining: false,
    probe: (reader) => void findDefaultPage(reader, {}),
    hasPages: () => false,
  };
}

/**
 * Says from now on that the server is not ready, and resolves after the setting `drainSeconds`. Until then requests are
 * answered, so that load balancers notice before connections are refused.
 */
export function drain(
  { clock, config, log }: { clock: Clock; config: Config; log: Log },
  readiness: Readiness,
): Promise<void> {
  readiness.isDraining = true;
  const { drainSeconds: seconds } = config;
  if (seconds === 0) return Promise.resolve();
  log.info({ seconds }, "draining: not ready any more, and still answering");
  return new Promise((resolve) => void clock.after(seconds * SECOND_MS, resolve));
}

/** Throws `unavailable` while the server shuts down or cannot read its database. */
export function requireReady(readiness: Readiness, reader: Reader): void {
  requireRunning(readiness);
  readiness.probe(reader);
}

/**
 * Throws `unavailable` while the server shuts down, or can serve no page. Returns the reason for which it serves only
 * pages in memory; undefined if it can read its database.
 */
function requirePages(readiness: Readiness, reader: Reader): StorageFault | undefined {
  requireRunning(readiness);
  try {
    readiness.probe(reader);
  } catch (error) {
    if (isUnreadable(error) && readiness.hasPages()) return storageFaultOf(error);
    throw error;
  }
  return undefined;
}

function requireRunning({ isDraining }: Readiness): void {
  if (isDraining) throw unavailable("The server is shutting down.", RETRY_AFTER_SECONDS);
}
