import { Type } from "@sinclair/typebox";
import { unavailable } from "../../base/errors";
import { Nullable, OneOf } from "../../base/schema";
import type { Ctx } from "../../context";
import { STORAGE_FAULTS } from "../../db/errors";
import type { StorageState } from "../../db/storage-watch";
import { operation } from "../../http/operation";
import type { PlainRoute } from "../../http/route-table";
import { type Readiness, requirePages, requireReady } from "./readiness";

const RETRY_AFTER_SECONDS = 5;
const NOT_PRIMARY = "This server is not the primary of its fleet now.";

const Health = Type.Object({ status: OneOf(["ok"]) }, { title: "Health" });

const Ready = Type.Object(
  {
    status: OneOf(["ok"]),
    writable: Type.Boolean({ description: "True if changes can be stored." }),
    reason: Nullable(
      Type.String({
        description: "Reason for which changes cannot be stored, or that the database is damaged.",
        examples: [STORAGE_FAULTS.disk_full],
      }),
    ),
  },
  { title: "Readiness" },
);

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
        answers: { 200: { description: "The process answers.", schema: Health } },
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
        answers: { 200: { description: "The server can serve pages.", schema: Ready } },
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
        answers: { 200: { description: "Changes can be stored.", schema: Ready } },
        errors: ["unavailable"],
      }),
    },
  ];
}

function answer(body: object): Response {
  return Response.json(body, { headers: { "Cache-Control": "no-store" } });
}
