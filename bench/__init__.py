"""The benchmark: our server and its peers in Node, side by side. See docs/performance.md."""
