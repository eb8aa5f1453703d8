import {
  type Tone,
  TONE_COLOURS,
  TONE_COLOURS_IN_DARK,
  TONE_FILLS,
  TONES,
} from "../../../base/status";

/** Properties of an element in the light theme, and those of the dark theme in their place. */
interface Look {
  light: string;
  dark: string;
}

const FONT =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** Looks by class. Colours have 4.5 : 1 on white in the light theme and on #121212 in the dark one. */
const LOOKS = {
  ground: {
    light: "background-color:#ffffff;color:#101a16",
    dark: "background-color:#121212;color:#eaf0ed",
  },
  ink: { light: "color:#101a16", dark: "color:#eaf0ed" },
  muted: { light: "color:#56645d", dark: "color:#98a69f" },
  accent: { light: "color:#0a6650", dark: "color:#5ecdaa" },
  button: {
    light: "background-color:#0a6650;color:#ffffff",
    dark: "background-color:#5ecdaa;color:#07130f",
  },
  line: { light: "border-color:#e1e7e2", dark: "border-color:#3a4540" },
  code: {
    light: "background-color:#f0f3f0;color:#101a16",
    dark: "background-color:#242c28;color:#eaf0ed",
  },
  ...(Object.fromEntries(
    TONES.map((tone) => [
      `t-${tone}`,
      { light: `color:${TONE_COLOURS[tone]}`, dark: `color:${TONE_COLOURS_IN_DARK[tone]}` },
    ]),
  ) as Record<`t-${Tone}`, Look>),
} satisfies Record<string, Look>;

type LookName = keyof typeof LOOKS;

/** Rules for the dark theme. Programs that ignore them show the light one or change colours themselves. */
export const DARK_RULES = `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${Object.entries(
  LOOKS,
)
  .map(([name, { dark }]) => `.${name}{${dark.replaceAll(/(?=;)|$/g, "!important")}}`)
  .join("")}}`;

/** Returns the attributes of an element with a look and more properties. */
export function styled(look: LookName, properties = ""): string {
  const style = [LOOKS[look].light, properties].filter((part) => part !== "").join(";");
  return ` class="${look}" style="${style}"`;
}

/** Returns the attributes of an element whose text has the tone's colour. */
export function toned(tone: Tone, properties = ""): string {
  return styled(`t-${tone}`, properties);
}

/** Returns the properties of a bar in the tone's colour. */
export function barStyle(tone: Tone): string {
  return `height:4px;line-height:4px;font-size:0;background-color:${TONE_FILLS[tone]}`;
}

export const BODY_STYLE = `margin:0;padding:0;${FONT};font-size:16px;line-height:1.5`;
export const COLUMN_STYLE = `max-width:600px;margin:0 auto;padding:24px 16px;${FONT};font-size:16px;line-height:1.5;overflow-wrap:anywhere`;

/** Styles of the elements of user texts, by tag. */
const TEXT_ELEMENTS: Readonly<Record<string, string>> = {
  p: ' style="margin:0 0 12px"',
  ul: ' style="margin:0 0 12px;padding-inline-start:24px"',
  ol: ' style="margin:0 0 12px;padding-inline-start:24px"',
  li: ' style="margin:0 0 4px"',
  blockquote: styled(
    "line",
    "margin:0 0 12px;padding-inline-start:12px;border-style:solid;border-width:0;border-inline-start-width:3px",
  ),
  pre: styled(
    "code",
    "margin:0 0 12px;padding:12px;border-radius:8px;white-space:pre-wrap;font-size:14px",
  ),
  code: styled("code", "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:14px"),
  hr: styled("line", "border-style:solid;border-width:1px 0 0;margin:16px 0"),
  a: styled("accent", "text-decoration:underline"),
  h2: ' style="margin:16px 0 8px;font-size:18px;line-height:1.3"',
  h3: ' style="margin:16px 0 8px;font-size:17px;line-height:1.3"',
  h4: ' style="margin:16px 0 8px;font-size:16px;line-height:1.3"',
  h5: ' style="margin:16px 0 8px;font-size:16px;line-height:1.3"',
  h6: ' style="margin:16px 0 8px;font-size:16px;line-height:1.3"',
};

const TAG = /<([a-z][a-z0-9]*)(?=[ >])(?: class="[^"]*")?/g;

/** Adds styles to the elements of rendered Markdown, which contains `<` only in tags. */
export function styleMarkdown(html: string): string {
  return html.replaceAll(TAG, (_, tag: string) => `<${tag}${TEXT_ELEMENTS[tag] ?? ""}`);
}
