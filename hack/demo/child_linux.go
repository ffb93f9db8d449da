package main

import "syscall"

// childAttributes keeps the terminal's ctrl-C away from a child, which ends in
// the order that the demo wants, and ends it when the demo is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
