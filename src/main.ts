/** Starts the command line from any working folder. */

/**
 * Maps React's JSX runtime to Preact's for modules loaded later, since Bun reads `jsxImportSource`
 * from the working folder only. The executable needs no mapping.
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
