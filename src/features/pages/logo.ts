import type { Actor } from "../../base/actor";
import { invalidFields } from "../../base/errors";
import { sha256 } from "../../base/hash";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { getPage, touchPage } from "./pages";
import { type PictureRow, PICTURES } from "./picture-store";
import { type PageRow, updatePageRow } from "./store";

export const LOGO_MAX_BYTES = 131_072;
/** Maximum width and height in pixels. */
const LOGO_MAX_SIDE = 2_000;

/** The logo in the head of a page, or the icon in tabs and on home screens. */
export type PictureKind = keyof typeof PICTURES;

interface PictureInput {
  bytes: Uint8Array;
  /** Media type that the sender declares. Only the bytes decide. */
  mediaType?: string | undefined;
}

/**
 * Sets a picture of a page; the same one again changes nothing. Throws `not_found`, or `validation_failed` at `#/logo` or
 * `#/favicon` unless it is a PNG, JPEG or WebP of at most 128 KiB and 2,000 pixels per side. A favicon is a square.
 */
export function putPicture(
  ctx: Ctx,
  tx: Tx,
  kind: PictureKind,
  pageId: string,
  { bytes }: PictureInput,
  actor: Actor,
): PageRow {
  const page = getPage(tx, pageId);
  const picture = requirePicture(kind, bytes);
  const hash = sha256(bytes);
  const file = pictureFile(hash, picture);
  if (file === page[kind]) return page;
  const { insert, remove } = PICTURES[kind];
  remove(tx, { pageId });
  insert(tx, { pageId, ...picture, sha256: hash, bytes: Buffer.from(bytes) });
  return change(ctx, tx, page, { [kind]: file }, [
    `page.put_${kind}`,
    `Changed the ${kind}`,
    actor,
  ]);
}

/** Removes a picture of a page, if it has one. Throws `not_found`. */
export function deletePicture(
  ctx: Ctx,
  tx: Tx,
  kind: PictureKind,
  pageId: string,
  actor: Actor,
): PageRow {
  const page = getPage(tx, pageId);
  if (page[kind] === null) return page;
  PICTURES[kind].remove(tx, { pageId });
  return change(ctx, tx, page, { [kind]: null }, [
    `page.delete_${kind}`,
    `Removed the ${kind}`,
    actor,
  ]);
}

/** Sets a page's logo. See `putPicture`. */
export function putLogo(ctx: Ctx, tx: Tx, pageId: string, input: PictureInput, actor: Actor) {
  return putPicture(ctx, tx, "logo", pageId, input, actor);
}

/** Removes a page's logo. See `deletePicture`. */
export function deleteLogo(ctx: Ctx, tx: Tx, pageId: string, actor: Actor): PageRow {
  return deletePicture(ctx, tx, "logo", pageId, actor);
}

/** Finds a picture of a page with its bytes by the name of its file. */
export function findPicture(
  reader: Reader,
  kind: PictureKind,
  pageId: string,
  file: string | undefined,
): PictureRow | undefined {
  const row = PICTURES[kind].find(reader, { pageId });
  return row && pictureFile(row.sha256, row) === file ? row : undefined;
}

function change(
  ctx: Ctx,
  tx: Tx,
  page: PageRow,
  files: Partial<Pick<PageRow, PictureKind>>,
  [action, what, actor]: [action: string, what: string, actor: Actor],
): PageRow {
  updatePageRow(tx, {
    ...page,
    ...files,
    version: page.version + 1,
    updatedAt: ctx.clock.now(),
  });
  audit(ctx, tx, actor, action, page.id, `${what} of the page “${page.name}”`);
  touchPage(ctx, tx, page.id);
  return getPage(tx, page.id);
}

function requirePicture(kind: PictureKind, bytes: Uint8Array): Picture {
  const refuse = (detail: string) => invalidFields([{ pointer: `#/${kind}`, detail }]);
  if (bytes.byteLength > LOGO_MAX_BYTES) throw refuse("is larger than 128 KiB");
  const picture = readPicture(bytes);
  if (!picture) throw refuse("is not an image in PNG, JPEG or WebP");
  if (Math.max(picture.width, picture.height) > LOGO_MAX_SIDE) {
    throw refuse(`is ${picture.width} × ${picture.height} pixels; the maximum is 2,000 × 2,000`);
  }
  if (kind === "favicon" && picture.width !== picture.height) {
    throw refuse(`is ${picture.width} × ${picture.height} pixels, and must be a square`);
  }
  return picture;
}

const ENDINGS = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" } as const;

/** Returns the name of a picture's file. Other bytes have another name, so that it can be cached forever. */
function pictureFile(hash: Uint8Array, { mediaType, width, height }: Picture): string {
  const name = Buffer.from(hash).toString("hex").slice(0, 16);
  return `${name}-${width}x${height}.${ENDINGS[mediaType]}`;
}

/** Kind and size of a picture, read from its bytes. Sizes in pixels. */
interface Picture {
  mediaType: PictureRow["mediaType"];
  width: number;
  height: number;
}

/** Reads the kind and size of a PNG, JPEG or WebP picture; undefined for other bytes. */
export function readPicture(bytes: Uint8Array): Picture | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const picture = readPng(view) ?? readJpeg(view) ?? readWebp(view);
    return picture && picture.width > 0 && picture.height > 0 ? picture : undefined;
  } catch (error) {
    // The bytes end before the size.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** PNG's signature, then its first chunk, which is the header (ISO/IEC 15948). */
function readPng(view: DataView): Picture | undefined {
  if (!begins(view, 0, "\x89PNG\r\n\x1a\n") || !begins(view, 12, "IHDR")) return undefined;
  return { mediaType: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
}

/** JPEG's segments up to the first that begins a frame (ITU-T T.81, annex B). */
function readJpeg(view: DataView): Picture | undefined {
  if (!begins(view, 0, "\xff\xd8\xff")) return undefined;
  let at = 2;
  for (;;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    while (view.getUint8(at) === 0xff) at += 1;
    const marker = view.getUint8(at);
    if (isFrame(marker)) {
      return {
        mediaType: "image/jpeg",
        width: view.getUint16(at + 6),
        height: view.getUint16(at + 4),
      };
    }
    // The scan or the end comes before a frame.
    if (marker === 0xda || marker === 0xd9) return undefined;
    at += 1 + view.getUint16(at + 1);
  }
}

/** Returns true for SOF0 to SOF15, of which three numbers are other markers. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** WebP's first chunk: lossy, lossless, or extended (RFC 9649). */
function readWebp(view: DataView): Picture | undefined {
  if (!begins(view, 0, "RIFF") || !begins(view, 8, "WEBP")) return undefined;
  const mediaType = "image/webp";
  if (begins(view, 12, "VP8 ") && begins(view, 23, "\x9d\x01\x2a")) {
    const [width, height] = [view.getUint16(26, true), view.getUint16(28, true)];
    return { mediaType, width: width & 0x3fff, height: height & 0x3fff };
  }
  if (begins(view, 12, "VP8L") && view.getUint8(20) === 0x2f) {
    const bits = view.getUint32(21, true);
    return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (begins(view, 12, "VP8X")) {
    return { mediaType, width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) };
  }
  return undefined;
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

function begins(view: DataView, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (at + index >= view.byteLength) return false;
    if (view.getUint8(at + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}
