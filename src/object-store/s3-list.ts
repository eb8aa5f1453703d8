/** A page of a listing. */
export interface ListPage {
  objects: { key: string; size: number; modifiedAt: number }[];
  /** Continues after this page; undefined on the last one. */
  next: string | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Parses a response of ListObjectsV2; returns undefined for anything else. */
export function parseListPage(xml: string): ListPage | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.includes("</ListBucketResult>")) return undefined;
  const isEncoded = elementText(xml, "EncodingType") === "url";
  const objects: ListPage["objects"] = [];
  for (const [, content = ""] of xml.matchAll(/<Contents>([^]*?)<\/Contents>/g)) {
    const key = decodeKey(elementText(content, "Key"), isEncoded);
    const size = Number(elementText(content, "Size"));
    const modifiedAt = Date.parse(elementText(content, "LastModified") ?? "");
    if (key === undefined || !Number.isSafeInteger(size) || Number.isNaN(modifiedAt)) {
      return undefined;
    }
    objects.push({ key, size, modifiedAt });
  }
  const isTruncated = elementText(xml, "IsTruncated") === "true";
  const next = isTruncated ? elementText(xml, "NextContinuationToken") : undefined;
  if (isTruncated && next === undefined) return undefined;
  return { objects, next };
}

function elementText(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi,
    (entity, decimal?: string, hex?: string, word?: string) => {
      if (word !== undefined) return ENTITIES[word] ?? entity;
      const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    },
  );
}

/** Decodes a key of a listing in which some servers write `+` for a space. */
function decodeKey(text: string | undefined, isEncoded: boolean): string | undefined {
  if (text === undefined || !isEncoded) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
