module github.com/runledger/runledger/cmd/runledger

go 1.25
