package main

import "syscall"

const getAttributes = syscall.TIOCGETA
