import { eq, sql } from "drizzle-orm";
import { mutate } from "../../src/db/statements";
import { monitorStates } from "../../src/db/tables/monitors";
import type { TestApp } from "./app";

const setExpiry = mutate((orm, $: { id: string; at: number }) =>
  orm
    .update(monitorStates)
    .set({ certificateExpiresAt: $.at })
    .where(eq(monitorStates.monitorNum, sql`(SELECT num FROM monitors WHERE id = ${$.id})`)),
);

/** Sets the end of a monitor's certificate, in unix ms. */
export function setCertificateExpiry({ ctx }: TestApp, id: string, at: number): Promise<void> {
  return ctx.db.write((tx) => void setExpiry(tx, { id, at }));
}
