// What the bundler makes of imports that are not code.
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
/** Imported with `type: "file"`: where the file lies, on disk or inside the executable. */
declare module "swagger-ui-dist/*" {
  const path: string;
  export default path;
}
/** The browser's scripts, which the server never runs: their text. */
declare module "*/client.js" {
  const text: string;
  export default text;
}
/** What is added to it where an order can be changed. */
declare module "*/ordering.js" {
  const text: string;
  export default text;
}
