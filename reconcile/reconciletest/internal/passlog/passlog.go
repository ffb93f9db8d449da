package passlog

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-logr/logr"
)

// Log records the log lines of an instance: panics and errors always, other lines on request.
type Log struct {
	keep bool

	mu     sync.Mutex
	lines  []string
	panics []string
	failed string // the last error
}

// New returns a log that records every line, or only panics and errors.
func New(keep bool) *Log { return &Log{keep: keep} }

const maxLogged = 10_000 // lines of an instance

// Logger returns a logger that writes to the log.
func (l *Log) Logger() logr.Logger { return logr.New(logSink{log: l}) }

// All returns the lines so far.
func (l *Log) All() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// Panicked returns the first panic of a pass, "" if there was none.
func (l *Log) Panicked() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.panics) == 0 {
		return ""
	}
	return l.panics[0]
}

// LastError returns the last logged error, "" if there was none.
func (l *Log) LastError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// logSink is the sink of loggers that write to a Log.
type logSink struct {
	log    *Log
	values []any
}

var _ logr.LogSink = logSink{}

// Init implements logr.LogSink.
func (logSink) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink. Verbose lines are not recorded.
func (s logSink) Enabled(level int) bool { return level == 0 && s.log.keep }

// Info implements logr.LogSink.
func (s logSink) Info(_ int, message string, values ...any) { s.write(message, values) }

// Error implements logr.LogSink. Controller-runtime converts a panic to an error with this text.
func (s logSink) Error(err error, message string, values ...any) {
	text := message
	if err != nil {
		text += ": " + err.Error()
		s.log.mu.Lock()
		s.log.failed = err.Error()
		if strings.Contains(err.Error(), "[recovered]") && strings.Contains(err.Error(), "panic:") {
			s.log.panics = append(s.log.panics, err.Error())
		}
		s.log.mu.Unlock()
	}
	s.write(text, values)
}

func (s logSink) write(text string, values []any) {
	line := strings.TrimSuffix(text+" "+fmt.Sprintf("%+v %+v", s.values, values), " [] []")
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if len(s.log.lines) < maxLogged {
		s.log.lines = append(s.log.lines, line)
	}
}

// WithValues implements logr.LogSink.
func (s logSink) WithValues(values ...any) logr.LogSink {
	if s.log.keep {
		s.values = append(append([]any(nil), s.values...), values...)
	}
	return s
}

// WithName implements logr.LogSink.
func (s logSink) WithName(string) logr.LogSink { return s }
