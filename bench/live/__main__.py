from bench.live.cli import main

main()
