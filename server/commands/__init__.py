"""The commands, each module those of one kind; `server.cli` puts them together."""
