package main

import "syscall"

// childAttributes protects a child from the terminal's ctrl-C, because the demo ends its children in order, and ends it when the demo is
// killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
