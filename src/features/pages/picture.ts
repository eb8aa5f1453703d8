import type { LogoRow } from "./store";

/** Kind and size of a picture, read from its bytes. Sizes in pixels. */
export interface Picture {
  mediaType: LogoRow["mediaType"];
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
