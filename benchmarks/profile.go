package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// profile starts a CPU profile in the folder, and returns the function that ends it and writes the allocation profile.
func profile(folder, name string) (done func() error, err error) {
	if folder == "" {
		return func() error { return nil }, nil
	}
	base := filepath.Join(folder, fmt.Sprintf("%s-%d", name, os.Getpid()))
	cpu, err := os.Create(base + ".cpu.pprof")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(err, cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		heap, err := os.Create(base + ".alloc.pprof")
		if err != nil {
			return errors.Join(err, cpu.Close())
		}
		return errors.Join(cpu.Close(), pprof.Lookup("allocs").WriteTo(heap, 0), heap.Close())
	}, nil
}
