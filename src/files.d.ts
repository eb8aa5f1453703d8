// What the bundler makes of imports that are not code.
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
/** Text of the main browser script of the dashboard or of public pages. */
declare module "*/client.js" {
  const text: string;
  export default text;
}
/** Text of the browser script for charts of days. */
declare module "*/live-sign.js" {
  const text: string;
  export default text;
}

declare module "*/live.js" {
  const text: string;
  export default text;
}

declare module "*/morph.js" {
  const text: string;
  export default text;
}

declare module "*/days.js" {
  const text: string;
  export default text;
}
/** Text of the browser script that copies addresses of feeds. */
declare module "*/copy.js" {
  const text: string;
  export default text;
}
/** Text of the browser script for lists. */
declare module "*/lists.js" {
  const text: string;
  export default text;
}
/** Text of the browser script for secrets that are shown once. */
declare module "*/secrets.js" {
  const text: string;
  export default text;
}
/** Text of the drag-and-drop script, loaded only by screens with an ordered list. */
declare module "*/ordering.js" {
  const text: string;
  export default text;
}
