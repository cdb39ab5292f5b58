from rookery.cli import main

main()
