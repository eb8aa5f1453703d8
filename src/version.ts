import { version } from "../package.json" with { type: "json" };

/** Version of Allclear, as shown by `--version` and the OpenAPI document. */
export const VERSION: string = version;

/** True if this is the compiled executable, not the sources. */
export const IS_COMPILED = import.meta.url.includes("$bunfs");

/** Command that runs this program: its name, or the sources by `npx`. */
export const PROGRAM: string = IS_COMPILED ? "allclear" : `npx -y bun@${Bun.version} src/main.ts`;
