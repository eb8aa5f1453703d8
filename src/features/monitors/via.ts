/*
 * Installations of Allclear behind a page, by the header `Allclear-Via`: the one that answers, and those that the pages
 * of its providers have named. With them a ring of installations that watch each other is found, which could hold itself
 * down for ever.
 */
import { sha256Hex } from "../../base/hash";
import { SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { findFirstPage } from "../pages/store";
import { findSetting, putSetting } from "../settings/store";

/** Name of the header. */
export const VIA = "allclear-via";

const ID_LENGTH = 24;
const ID = /^[0-9a-f]{24}$/;

/** Number of installations that a header names. */
const VIA_MAX = 50;

/** Returns the installations that a header names; undefined for none. */
export function viaIn(header: string | undefined): readonly string[] | undefined {
  const ids = (header ?? "")
    .split(",", VIA_MAX)
    .map((text) => text.trim())
    .filter((text) => ID.test(text));
  return ids.length === 0 ? undefined : ids;
}

/** Setting with the installations behind each monitor of a provider, by its id. */
const SETTING = "upstream_vias";

type Vias = Readonly<Record<string, readonly string[]>>;

/** Returns the installations behind each monitor of a provider, as far as they are known. */
export function readVias(reader: Reader): Vias {
  return (findSetting(reader, { name: SETTING })?.value ?? {}) as Vias;
}

export function saveVias(tx: Tx, vias: Vias, now: number): void {
  putSetting(tx, { name: SETTING, value: vias, now });
}

/** Returns the id of this installation, which follows from its first page; undefined before there is one. */
export function ownVia(reader: Reader): string | undefined {
  const first = findFirstPage(reader, {});
  return first && sha256Hex(`via ${first.id}`).slice(0, ID_LENGTH);
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
      value = viaOf(db);
    } catch {
      // Pages are served meanwhile too.
    }
    return value;
  };
}

function viaOf(reader: Reader): string | undefined {
  const own = ownVia(reader);
  if (own === undefined) return undefined;
  const ids = new Set([own, ...Object.values(readVias(reader)).flat()]);
  return [...ids].slice(0, VIA_MAX).join(", ");
}
