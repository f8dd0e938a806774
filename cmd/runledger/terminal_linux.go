package main

import "syscall"

const getAttributes = syscall.TCGETS
