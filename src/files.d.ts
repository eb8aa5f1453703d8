// Types of imports that are not code, as the bundler resolves them.
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*/LICENSE" {
  const text: string;
  export default text;
}
declare module "*.svg" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
/** Path of a file imported with `type: "file"`, on disk or inside the executable. */
declare module "swagger-ui-dist/*" {
  const path: string;
  export default path;
}
/** Path of a file imported with `type: "file"`, on disk or inside the executable. */
declare module "*.woff2" {
  const path: string;
  export default path;
}
/** Path of a file imported with `type: "file"`, on disk or inside the executable. */
declare module "*.png" {
  const path: string;
  export default path;
}
/** Path of a file imported with `type: "file"`, on disk or inside the executable. */
declare module "*.ico" {
  const path: string;
  export default path;
}
/** Text of a script for browsers. */
declare module "./*.js" {
  const text: string;
  export default text;
}
/** Text of a script for browsers. */
declare module "../ui/*.js" {
  const text: string;
  export default text;
}
declare module "html-encoding-sniffer" {
  /** Returns the name of an encoding of the Encoding Standard, or `defaultEncoding`. */
  export default function sniff(
    bytes: Uint8Array,
    options: { xml?: boolean; transportLayerEncodingLabel?: string; defaultEncoding: string },
  ): string;
}
