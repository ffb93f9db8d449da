package passlog

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-logr/logr"
)

// Log keeps what an instance logs: panics and errors always, every line when it is asked to.
type Log struct {
	keep bool

	mu     sync.Mutex
	lines  []string
	panics []string
	failed string // the last error
}

// New keeps every line, or only panics and errors.
func New(keep bool) *Log { return &Log{keep: keep} }

const maxLogged = 10_000 // lines of an instance

// Logger is a logger that writes to the log.
func (l *Log) Logger() logr.Logger { return logr.New(logSink{log: l}) }

// All are the lines so far.
func (l *Log) All() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// Panicked is the first panic of a pass, "" when there was none.
func (l *Log) Panicked() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.panics) == 0 {
		return ""
	}
	return l.panics[0]
}

// LastError is the last error that was logged, "" when there was none.
func (l *Log) LastError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// logSink is the end of the loggers that write into a passLog.
type logSink struct {
	log    *Log
	values []any
}

var _ logr.LogSink = logSink{}

// Init implements logr.LogSink.
func (logSink) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink: what is off by default is not kept.
func (s logSink) Enabled(level int) bool { return level == 0 && s.log.keep }

// Info implements logr.LogSink.
func (s logSink) Info(_ int, message string, values ...any) { s.write(message, values) }

// Error implements logr.LogSink. Controller-runtime turns a panic into an error with this text.
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
