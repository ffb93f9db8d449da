//go:build !linux

package main

import "syscall"

// childAttributes protects a child from the terminal's ctrl-C, because the demo ends its children in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
