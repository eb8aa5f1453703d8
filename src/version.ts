import manifest from "../package.json" with { type: "json" };

/** The version of this Allclear, as `--version` and the OpenAPI document give it. */
export const VERSION: string = manifest.version;

/** Whether this is the compiled executable, rather than the sources as developers run them. */
export const IS_COMPILED = import.meta.url.includes("$bunfs");

/** Words that call this program: its name, or its sources on a machine that has only Node. */
export const PROGRAM: string = IS_COMPILED ? "allclear" : `npx -y bun@${Bun.version} src/main.ts`;
