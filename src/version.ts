import manifest from "../package.json" with { type: "json" };

/** The version of this Allclear, as `--version` and the OpenAPI document give it. */
export const VERSION: string = manifest.version;

/** Whether this is the compiled executable, rather than the sources as developers run them. */
export const IS_COMPILED = import.meta.url.includes("$bunfs");
