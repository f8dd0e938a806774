package main

// The version of this binary. A release sets it: -ldflags "-X main.version=1.0.0".
var version = "development"
