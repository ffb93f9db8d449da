package controller_test

import (
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// wakeLog records the logged triggers of reconciliations.
type wakeLog struct {
	mu    sync.Mutex
	lines []string
}

// logger returns the logger of a manager.
func (w *wakeLog) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		if strings.Contains(args, `"triggered"`) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lines = append(w.lines, args)
		}
	}, funcr.Options{Verbosity: 1})
}

// woken returns the triggers so far, one per line.
func (w *wakeLog) woken() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "\n")
}
