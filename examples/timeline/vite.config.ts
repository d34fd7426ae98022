import { svelte } from "@sveltejs/vite-plugin-svelte"
import { defineConfig } from "vite"

export default defineConfig({
  plugins: [svelte()],
  build: {
    // Where the server looks, see docs/timeline.md; `make web` names another for PLANNER_HOME.
    outDir: process.env["OUT_DIR"] ?? "../../.planner/timeline",
    emptyOutDir: true,
    // A policy without `data:` scripts and fonts: nothing is put inline.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    // How long each plugin took is no news to whoever builds the page.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: { proxy: { "/graphql": { target: "http://127.0.0.1:8000", changeOrigin: false } } },
})
