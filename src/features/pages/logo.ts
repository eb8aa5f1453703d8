import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { invalidFields } from "../../base/errors";
import { audit } from "../../events/audit";
import type { Actor } from "../../base/actor";
import { sha256 } from "../../base/hash";
import { type Picture, readPicture } from "./picture";
import { getPage, touchPage } from "./service";
import {
  deleteLogoRow,
  findLogo,
  insertLogo,
  type LogoRow,
  type PageRow,
  updatePageRow,
} from "./store";

export const LOGO_MAX_BYTES = 131_072;
/** Maximum width and height in pixels. */
const LOGO_MAX_SIDE = 2_000;

interface LogoInput {
  bytes: Uint8Array;
  /** Media type that the sender declares. Only the bytes decide. */
  mediaType?: string | undefined;
}

/**
 * Sets a page's logo; the same one again changes nothing. Throws `not_found`, or
 * `validation_failed` at `#/logo` unless it is a PNG, JPEG or WebP of at most 128 KiB and 2,000
 * pixels per side.
 */
export function putLogo(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  { bytes }: LogoInput,
  actor: Actor,
): PageRow {
  const page = getPage(tx, pageId);
  const picture = requireLogo(bytes);
  const hash = sha256(bytes);
  const logo = logoFile(hash, picture);
  if (logo === page.logo) return page;
  deleteLogoRow(tx, { pageId });
  insertLogo(tx, { pageId, ...picture, sha256: hash, bytes: Buffer.from(bytes) });
  return change(ctx, tx, page, logo, ["page.put_logo", "Changed the logo", actor]);
}

/** Removes a page's logo, if it has one. Throws `not_found`. */
export function deleteLogo(ctx: Ctx, tx: Tx, pageId: string, actor: Actor): PageRow {
  const page = getPage(tx, pageId);
  if (page.logo === null) return page;
  deleteLogoRow(tx, { pageId });
  return change(ctx, tx, page, null, ["page.delete_logo", "Removed the logo", actor]);
}

/** Finds a page's logo with its bytes by the name of its file. */
export function readLogo(
  reader: Reader,
  pageId: string,
  file: string | undefined,
): LogoRow | undefined {
  const row = findLogo(reader, { pageId });
  return row && logoFile(row.sha256, row) === file ? row : undefined;
}

function change(
  ctx: Ctx,
  tx: Tx,
  page: PageRow,
  logo: string | null,
  [action, what, actor]: [action: string, what: string, actor: Actor],
): PageRow {
  updatePageRow(tx, {
    ...page,
    logo,
    version: page.version + 1,
    updatedAt: ctx.clock.now(),
  });
  audit(ctx, tx, actor, action, page.id, `${what} of the page “${page.name}”`);
  touchPage(ctx, tx, page.id);
  return getPage(tx, page.id);
}

function requireLogo(bytes: Uint8Array): Picture {
  const refuse = (detail: string) => invalidFields([{ pointer: "#/logo", detail }]);
  if (bytes.byteLength > LOGO_MAX_BYTES) throw refuse("is larger than 128 KiB");
  const picture = readPicture(bytes);
  if (!picture) throw refuse("is not an image in PNG, JPEG or WebP");
  if (Math.max(picture.width, picture.height) > LOGO_MAX_SIDE) {
    throw refuse(`is ${picture.width} × ${picture.height} pixels; the maximum is 2,000 × 2,000`);
  }
  return picture;
}

const ENDINGS = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" } as const;

/**
 * Returns the name of a logo's file. Other bytes have another name, so that it can be cached
 * forever.
 */
function logoFile(hash: Uint8Array, { mediaType, width, height }: Picture): string {
  const name = Buffer.from(hash).toString("hex").slice(0, 16);
  return `${name}-${width}x${height}.${ENDINGS[mediaType]}`;
}
