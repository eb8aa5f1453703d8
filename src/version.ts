import manifest from "../package.json" with { type: "json" };

/** The version of this Allclear, as `--version` and the OpenAPI document give it. */
export const VERSION: string = manifest.version;
