/*
 * Installations of Allclear behind a page, by the header `Allclear-Via`: the one that answers, and those that the pages
 * of its providers have named. With them a ring of installations that watch each other is found, which could hold itself
 * down for ever. They are stored, since replicas answer too.
 */
import { sha256Hex } from "../../base/hash";
import { SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader } from "../../db/statements";
import { findFirstPage } from "../pages/store";
import { findSetting, putSetting } from "../settings/store";

/** Name of the header. */
export const VIA = "allclear-via";

const ID_LENGTH = 24;
const ID = /^[0-9a-f]{24}$/;

/** Number of installations that a header names. */
const VIA_MAX = 50;

/** Returns the installations that a header names. */
export function viaIn(header: string | undefined): readonly string[] {
  const ids = (header ?? "").split(",", VIA_MAX).map((text) => text.trim());
  return ids.filter((text) => ID.test(text));
}

/** Returns the id of this installation, which follows from its first page; undefined before there is one. */
export function ownVia(reader: Reader): string | undefined {
  const first = findFirstPage(reader, {});
  return first && sha256Hex(`via ${first.id}`).slice(0, ID_LENGTH);
}

/** Setting with the installations behind each monitor of a provider, by its id. */
const SETTING = "upstream_vias";

function readVias(reader: Reader): Readonly<Record<string, readonly string[]>> {
  const value = findSetting(reader, { name: SETTING })?.value ?? {};
  return value as Readonly<Record<string, readonly string[]>>;
}

/**
 * Notes the installations behind the page that a monitor has read, so that answers of this server name them; none for
 * a monitor that was deleted or paused. Never rejects.
 */
export async function noteVia(ctx: Ctx, monitorId: string, via: readonly string[]): Promise<void> {
  try {
    const own = ownVia(ctx.db);
    const others = via.filter((each) => each !== own);
    if (Bun.deepEquals(readVias(ctx.db)[monitorId] ?? [], others)) return;
    await ctx.db.write((tx) => {
      const { [monitorId]: _, ...rest } = readVias(tx);
      const value = others.length === 0 ? rest : { ...rest, [monitorId]: others };
      putSetting(tx, { name: SETTING, value, now: ctx.clock.now() });
    });
  } catch (error) {
    // The next check notes them again.
    ctx.log.warn({ err: error }, "a provider could not be noted");
  }
}

/** Time for which the value of the header is used again. */
const FRESH_MS = 10 * SECOND_MS;

/**
 * Returns a function for the value of the header of this installation's answers; undefined before it has a page. The
 * last value is used while the database cannot be read.
 */
export function createVia({ clock, db }: Pick<Ctx, "clock" | "db">): () => string | undefined {
  let value: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() - readAt < FRESH_MS) return value;
    readAt = clock.monotonic();
    try {
      const own = ownVia(db);
      const ids = new Set([own, ...Object.values(readVias(db)).flat()]);
      value = own && [...ids].slice(0, VIA_MAX).join(", ");
    } catch {
      // Pages are served meanwhile too.
    }
    return value;
  };
}
