import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { renderToString } from "preact-render-to-string";
import inter from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import { type Tone, TONES } from "../src/base/status";
import { Icon, spriteFor } from "../src/ui/icons";
import { Shape } from "../src/ui/blocks";
import { StatusRing } from "../src/ui/pictures";
import tokens from "../src/ui/tokens.css" with { type: "text" };
import { launchBrowser, missingBrowser } from "./support/browser-site";

// `bun test/preview-pictures.tsx`: draws the pictures that messengers show next to links to status pages,
// one for each tone, into src/public/pictures, and the
// icons of home screens, into src/ui/home-screen.

const OUT = new URL("../src/", import.meta.url).pathname;
const SIZE = { width: 1200, height: 630 };

/** Words for every headline of a tone. */
const WORDS: Record<Tone, string> = {
  none: "No data",
  ok: "Operational",
  maint: "Maintenance",
  degraded: "Degraded",
  partial: "Partial outage",
  major: "Major outage",
};

const STYLE = `
  @font-face { font-family: Inter; font-weight: 100 900; src: url(FONT) format("woff2"); }
  body { margin: 0; background: var(--soft); color: var(--ink); font-family: Inter; }
  .ok { --soft: var(--ground); }
  main { display: grid; grid-template-columns: 220px auto; gap: 56px; align-items: center;
    justify-content: center; height: 630px; }
  .mark { display: grid; place-items: center; }
  .mark > * { grid-area: 1 / 1; }
  .ring { width: 220px; height: 220px; fill: none; stroke: var(--fill); stroke-width: 4; }
  .shape { width: 84px; height: 84px; fill: var(--fill); stroke: var(--fill); stroke-width: 1.5; }
  .hollow { fill: none; stroke-width: 2; }
  .i { width: 100px; height: 100px; fill: none; stroke: var(--fill); stroke-width: 2.5;
    stroke-linecap: round; stroke-linejoin: round; }
  .sprite { position: absolute; width: 0; height: 0; }
  h1 { margin: 0; font-size: 104px; line-height: 112px; font-weight: 600; letter-spacing: -0.03em; }
  p { position: absolute; right: 56px; bottom: 44px; margin: 0; color: var(--muted); font-size: 30px; }
`;

function Picture({ tone }: { tone: Tone }) {
  return (
    <main>
      <span class="mark">
        <StatusRing tone={tone} />
        {tone === "ok" ? <Icon name="check" /> : <Shape tone={tone} />}
      </span>
      <h1>{WORDS[tone]}</h1>
      <p>Status by Allclear</p>
    </main>
  );
}

/** Sides of the icons of home screens, in pixels. */
const ICON_SIDES = [192, 512];

/** White ring on green. All of it is in the inner circle that systems leave of a maskable icon. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 180 180" width="100%" height="100%">
  <rect width="180" height="180" fill="#0a6650" />
  <circle cx="90" cy="90" r="50" fill="none" stroke="#fff" stroke-width="20" stroke-dasharray="241 73"
    transform="rotate(-8 90 90)" />
</svg>`;

/** Size of a picture in pixels. */
interface Size {
  width: number;
  height: number;
}

/** Returns the pixels of a PNG, four bytes each. Both are in base64. Runs in the browser. */
async function pixelsOf(png: string): Promise<string> {
  const blob = await (await fetch(`data:image/png;base64,${png}`)).blob();
  const bitmap = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser has no canvas");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
  return new Uint8Array(data.buffer).toBase64();
}

/** Encodes opaque pixels as a PNG without transparency, which is a third of the bytes of a screenshot. */
function encodePng(pixels: Uint8Array, { width, height }: Size): Uint8Array {
  const stride = 1 + width * 3;
  const rows = new Uint8Array(height * stride);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const from = (y * width + x) * 4;
      rows.set(pixels.subarray(from, from + 3), y * stride + 1 + x * 3);
    }
  }
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  // Colour type 2: red, green and blue.
  header.setUint8(9, 2);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunkOf("IHDR", new Uint8Array(header.buffer)),
    chunkOf("IDAT", deflateSync(rows, { level: 9 })),
    chunkOf("IEND", new Uint8Array()),
  ]);
}

function chunkOf(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** Writes what the page shows. */
async function draw(page: Page, name: string, size: Size): Promise<void> {
  const png = (await page.screenshot()).toBase64();
  const pixels = await page.evaluate(pixelsOf, png);
  await Bun.write(`${OUT}${name}`, encodePng(Uint8Array.fromBase64(pixels), size));
}

const missing = missingBrowser();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const font = (await Bun.file(inter).bytes()).toBase64();
const style = tokens + STYLE.replace("FONT", `data:font/woff2;base64,${font}`);
const browser = await launchBrowser();
try {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
  for (const tone of TONES) {
    const body = renderToString(<Picture tone={tone} />);
    await page.setContent(
      `<style>${style}</style><body class="${tone} t-${tone}">${body}${spriteFor(body)}</body>`,
    );
    await page.evaluate(() => document.fonts.ready);
    await draw(page, `public/pictures/preview-${tone}.png`, SIZE);
  }
  for (const side of ICON_SIDES) {
    const size = { width: side, height: side };
    await page.setViewportSize(size);
    await page.setContent(`<style>body { margin: 0; } svg { display: block; }</style>${ICON}`);
    await draw(page, `ui/home-screen/icon-${side}.png`, size);
  }
} finally {
  await browser.close();
}
