/** Starts the command line, from whichever folder it is run. */

/**
 * Bun reads `jsxImportSource` from the tsconfig of the working folder and falls back to React. Modules
 * that are loaded after this get Preact's runtime under React's name. The executable has it built in.
 */
Bun.plugin({
  name: "preact",
  setup(build) {
    const load = async () => ({
      exports: await import("preact/jsx-runtime"),
      loader: "object" as const,
    });
    build.module("react/jsx-runtime", load);
    build.module("react/jsx-dev-runtime", load);
  },
});

// A static import would be resolved before the plugin is there.
const { main } = await import("./cli/main");
process.exit(await main());

export {};
