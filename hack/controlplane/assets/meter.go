package assets

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// meter converts the output of `go build -v` to one line about the progress, and keeps its end for an error message.
type meter struct {
	out   io.Writer
	what  string
	every time.Duration
	live  bool // a terminal: rewrite one line instead of adding lines
	began time.Time

	mu       sync.Mutex
	partial  []byte
	fetched  int
	compiled int
	total    int // packages to compile; 0 if unknown
	last     []string
}

func newMeter(out io.Writer, what string) *meter {
	m := &meter{out: out, what: what, every: time.Minute, began: time.Now()}

	if file, ok := out.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" {
			m.live, m.every = true, time.Second
		}
	}

	return m
}

// Write receives output of the go command. It never fails.
func (m *meter) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.partial = append(m.partial, p...)

	for {
		line, rest, found := bytes.Cut(m.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}

		m.count(string(line))
		m.partial = append([]byte(nil), rest...)
	}
}

// count counts the lines of the go command: a module to download, or a bare import path to compile.
func (m *meter) count(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		m.fetched++
	case !strings.ContainsAny(line, " :#\t"):
		m.compiled++
	default:
		m.last = append(m.last, line)
		if len(m.last) > 40 {
			m.last = m.last[1:]
		}
	}
}

// start reports until the returned function is called.
func (m *meter) start() (stop func()) {
	ticker := time.NewTicker(m.every)
	done, ended := make(chan struct{}), make(chan struct{})

	go func() {
		defer close(ended)

		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				m.report(false)
			}
		}
	}()

	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// report prints the progress; the final line remains on a terminal.
func (m *meter) report(final bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	line := "control plane: " + m.what + ": "

	switch {
	case m.total > 0 && !final:
		line += fmt.Sprintf("%d of %d packages compiled, %d left", m.compiled, m.total, max(m.total-m.compiled, 0))
	case m.compiled > 0 || final:
		line += fmt.Sprintf("%d packages compiled", m.compiled)
	default:
		line += "listing its packages"
	}

	if m.fetched > 0 {
		line += fmt.Sprintf(", %d modules fetched", m.fetched)
	}

	line += ", " + time.Since(m.began).Round(time.Second).String()

	if !m.live {
		fmt.Fprintln(m.out, line)

		return
	}

	fmt.Fprint(m.out, "\r\x1b[K"+line)

	if final {
		fmt.Fprintln(m.out)
	}
}

// tail returns the last lines without progress.
func (m *meter) tail() string {
	m.mu.Lock()
	defer m.mu.Unlock()

	return strings.Join(append(m.last, string(m.partial)), "\n")
}
