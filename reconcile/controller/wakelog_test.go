package controller_test

import (
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// wakeLog takes down what the log tells of what woke passes.
type wakeLog struct {
	mu    sync.Mutex
	lines []string
}

// logger is for a manager.
func (w *wakeLog) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		if strings.Contains(args, `"triggered"`) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lines = append(w.lines, args)
		}
	}, funcr.Options{Verbosity: 1})
}

// woken is what woke passes so far, a line each.
func (w *wakeLog) woken() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "\n")
}
