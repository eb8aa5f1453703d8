import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { AppContext } from "../../context";
import { unavailable } from "../../errors";
import { operation } from "../../http";
import { OneOf } from "../../kernel/schema";
import type { Readiness } from "./readiness";

const Health = Type.Object({ status: OneOf(["ok"]) }, { title: "Health" });

/** `/healthz`: the process answers. `/readyz`: it can read its database and is not shutting down. */
export function healthRoutes(ctx: AppContext, readiness: Readiness) {
  return new Elysia()
    .get(
      "/healthz",
      () => ok(),
      operation({
        id: "getHealth",
        summary: "Whether the process answers",
        tag: "Health",
        access: { kind: "health" },
        answers: { 200: { description: "It does.", schema: Health } },
      }),
    )
    .get(
      "/readyz",
      () => {
        if (readiness.isDraining) throw unavailable("The server is shutting down.", 5);
        readiness.probe(ctx.db);
        return ok();
      },
      operation({
        id: "getReadiness",
        summary: "Whether the server can do its work",
        description: "503 while it shuts down and while it cannot read its database.",
        tag: "Health",
        access: { kind: "health" },
        answers: { 200: { description: "It can.", schema: Health } },
        errors: ["unavailable"],
      }),
    );
}

function ok(): Response {
  return Response.json({ status: "ok" }, { headers: { "Cache-Control": "no-store" } });
}
