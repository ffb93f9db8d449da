// Command reconcilekit scaffolds operators that use the SDK: a project in an empty folder, and its kinds.
//
//	go run github.com/reconcilekit/reconcilekit/cmd/reconcilekit@latest init --domain example.com
//	go run github.com/reconcilekit/reconcilekit/cmd/reconcilekit@latest create api --version v1 --kind Website
//	go run github.com/reconcilekit/reconcilekit/cmd/reconcilekit@latest create webhook --version v1 --kind Website
//	go run github.com/reconcilekit/reconcilekit/cmd/reconcilekit@latest create version --version v1beta1 --hub v1 --kind Website
//
// As an executable named reconcilekit in the folder reconcilekit/v1 of kubebuilder's plugins it adds kinds to kubebuilder projects:
// without arguments, it reads a request from its standard input and implements the protocol of external plugins.
package main

import (
	"fmt"
	"os"

	"github.com/reconcilekit/reconcilekit/cmd/reconcilekit/internal/plugin"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "reconcilekit: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) == 1 && piped(os.Stdin) {
		return plugin.Serve(os.Stdin, os.Stdout)
	}
	return root().Execute()
}

// piped reports whether the input is not a terminal.
func piped(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}
