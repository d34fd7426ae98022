"""The commands of operators, each a module; `server.cli` puts them together."""
