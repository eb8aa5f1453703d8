import type { Ctx } from "../../src/context";
import type { ImportedToken } from "../../src/features/monitors/tokens";
import { insertMonitorToken } from "../../src/features/monitors/job-store";
import { sha256 } from "../../src/base/hash";
import type { MonitorApi } from "./monitor-api";

/** Creates a push monitor with tokens of other products and returns its id. */
export async function importJob(
  api: MonitorApi,
  tokens: readonly ImportedToken[],
  input: object = {},
): Promise<string> {
  const { id } = await api.create({ type: "push", name: "Backup", config: {}, ...input });
  await giveImportedTokens(api.app.ctx, id, tokens);
  return id;
}

/** Gives a monitor tokens of other products. */
export function giveImportedTokens(
  ctx: Ctx,
  monitorId: string,
  tokens: readonly ImportedToken[],
): Promise<void> {
  return ctx.db.write((tx) => {
    for (const { kind, value } of tokens) {
      const createdAt = ctx.clock.now();
      insertMonitorToken(tx, { hash: sha256(value), monitorId, kind, createdAt });
    }
    ctx.signals.monitorsChanged.raise(tx);
  });
}
