import { deflateSync } from "node:zlib";

/** The same picture of 7 by 3 pixels, written by other programs. */
export const PICTURES = {
  png: "iVBORw0KGgoAAAANSUhEUgAAAAcAAAADCAYAAABfwxXFAAAAFUlEQVR42mPkzg6OYsABmBjwALySAGD/ASk9cJfnAAAAAElFTkSuQmCC",
  "baseline jpeg":
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////////////wAALCAADAAcBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AJ//Z",
  "progressive jpeg":
    "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAWRXhpZgAASUkqAAgAAAAAAAAAAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////////////wgALCAADAAcBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAv/aAAgBAQAAAAEf/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABBQJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPyF//9oACAEBAAAAEP8A/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxB//9k=",
  "lossy webp": "UklGRiwAAABXRUJQVlA4ICAAAABQAQCdASoHAAMAB0CWJaAABDOAAP7lCU1/8O7m69KwAA==",
  "lossless webp": "UklGRh4AAABXRUJQVlA4TBEAAAAvBoAAAAfQtS50qv+BiOh/AAA=",
  "extended webp":
    "UklGRlAAAABXRUJQVlA4WAoAAAAQAAAABgAAAgAAQUxQSAoAAAABB1CtiAhERP8DVlA4ICAAAABQAQCdASoHAAMAB0CWJaAABDOAAP7lCU1/8O7m69KwAA==",
} as const;

/** A picture in a format that is not supported. */
export const GIF = Buffer.from(
  "R0lGODdhBwADAIEAAAtrUwAAAAAAAAAAACwAAAAABwADAAAICQABCBxIsKDBgAA7",
  "base64",
);

export function picture(name: keyof typeof PICTURES): Buffer {
  return Buffer.from(PICTURES[name], "base64");
}

/** Creates a grey PNG of any size in pixels, with `padding` additional bytes. */
export function png(width: number, height: number, padding = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, 128);
  for (let row = 0; row < height; row++) rows[row * (width + 1)] = 0;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    ...(padding > 0 ? [chunk("tEXt", Buffer.alloc(padding, "a"))] : []),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.byteLength);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(Bun.hash.crc32(body));
  return Buffer.concat([length, body, sum]);
}
