package process

import (
	"bytes"
	"sync"
)

// Log is what a program writes while a test reads it. The zero value is empty; it is safe for concurrent use.
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

// String returns all that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Tail returns the last 8,000 bytes of it, for the report of a test that failed.
func (l *Log) Tail() string {
	const size = 8000
	text := l.String()
	return text[max(0, len(text)-size):]
}
