/*
 * Installations of Allclear behind a page, by the header `Allclear-Via`: the one that answers, and those that the pages
 * of its providers have named. With them a ring of installations that watch each other is found, which could hold itself
 * down for ever.
 */
import { sha256Hex } from "../../base/hash";
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

/** Returns the value of the header for answers of this installation; undefined before it has a page. */
export function viaOf(reader: Reader): string | undefined {
  const own = ownVia(reader);
  if (own === undefined) return undefined;
  const ids = new Set([own, ...Object.values(readVias(reader)).flat()]);
  return [...ids].slice(0, VIA_MAX).join(", ");
}
