import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Compiles the program once: process tests run dist/app, as users do.
    globalSetup: ["test/setup/compile.ts"],
    setupFiles: ["test/setup/cleanup.ts"],
    // Real servers and processes on small machines: generous, but bounded.
    testTimeout: 180_000,
    hookTimeout: 240_000,
  },
});
