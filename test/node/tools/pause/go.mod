module runledger.dev/test/node/tools/pause

go 1.26.0
