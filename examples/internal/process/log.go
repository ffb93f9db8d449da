package process

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// Log records the output of a program while a test reads it. The zero value is empty. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the entire output.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Tail returns the last 8,000 bytes of the output, for the report of a failed test.
func (l *Log) Tail() string {
	const size = 8000
	text := l.String()
	return text[max(0, len(text)-size):]
}

// Entry is a line of the log of a manager.
type Entry struct {
	Level      string `json:"level"`
	Message    string `json:"msg"`
	Controller string `json:"controller"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Error      string `json:"error"`
}

// Errors returns the lines with level error after the given number of bytes.
func (l *Log) Errors(after int) (out []Entry) {
	for line := range strings.Lines(l.String()[after:]) {
		var e Entry
		if json.Unmarshal([]byte(line), &e) == nil && e.Level == "error" {
			out = append(out, e)
		}
	}
	return out
}
