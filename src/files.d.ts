// What the bundler makes of imports that are not code.
declare module "*.sql" {
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
/** Text of the browser script, which the server never runs. */
declare module "*/client.js" {
  const text: string;
  export default text;
}
/** Text of the drag-and-drop script, loaded only by screens with an ordered list. */
declare module "*/ordering.js" {
  const text: string;
  export default text;
}
