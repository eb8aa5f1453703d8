/** Imported with `type: "file"`: where the file lies. */
declare module "axe-core/axe.min.js" {
  const path: string;
  export default path;
}
