package operator

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	uberzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// LogLevelPath is the path of the log level on the metrics server, with the flag -metrics-secure. GET returns the level;
// PUT sets it to the body, a value of the flag -zap-log-level.
const LogLevelPath = "/debug/log-level"

// logs has the logger of a process and its level.
type logs struct {
	logr.Logger
	level uberzap.AtomicLevel
	final logr.Logger // for the last line, without a stack trace
	ended atomic.Bool // set by the last line
}

// newLogs returns a logger that writes to w. After ctx is done, it logs errors of cancelled requests as information.
func newLogs(ctx context.Context, options zap.Options, w io.Writer) *logs {
	l := &logs{level: uberzap.NewAtomicLevelAt(zapcore.InfoLevel)}
	if options.Level != nil {
		l.level.SetLevel(zapcore.LevelOf(options.Level))
	} else if options.Development {
		l.level.SetLevel(zapcore.DebugLevel)
	}
	options.Level, options.DestWriter = l.level, zapcore.Lock(zapcore.AddSync(w))
	final := options
	final.StacktraceLevel = zapcore.DPanicLevel
	l.final = zap.New(zap.UseFlagOptions(&final))
	options.ZapOpts = append(options.ZapOpts, uberzap.WrapCore(func(core zapcore.Core) zapcore.Core { return filter{core, ctx, &l.ended} }))
	l.Logger = zap.New(zap.UseFlagOptions(&options))
	return l
}

// last logs the last line and suppresses later ones. Goroutines of a manager without a lease may still run and log.
func (l *logs) last(name string, err error) {
	l.ended.Store(true)
	l.final.WithName(name).Error(err, "the operator ends")
}

//nolint:gochecknoglobals // klog has one logger for each process, too
var shareLogger sync.Once

// share sets the logger of controller-runtime's packages and of client-go, such as its leader election. Only the first call
// in a process sets the one of client-go.
func (l *logs) share() {
	log.SetLogger(l.Logger)
	shareLogger.Do(func() { klog.SetLogger(l.Logger) })
}

// filter drops lines without information, and logs errors of requests that the end of the process cancelled as information.
type filter struct {
	zapcore.Core
	ctx   context.Context //nolint:containedctx // to check whether it is done
	ended *atomic.Bool
}

// With implements zapcore.Core.
func (f filter) With(fields []zapcore.Field) zapcore.Core {
	return filter{f.Core.With(fields), f.ctx, f.ended}
}

// Check implements zapcore.Core.
func (f filter) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	// The line does not contain the names of failed checks; package controller logs these.
	if f.ended.Load() || !f.Enabled(entry.Level) || entry.Message == "healthz check failed" && strings.HasSuffix(entry.LoggerName, "healthz") {
		return checked
	}
	return checked.AddCore(entry, f)
}

// Write implements zapcore.Core.
func (f filter) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	if entry.Level == zapcore.ErrorLevel && f.ctx.Err() != nil && cancelled(fields) {
		entry.Level, entry.Stack = zapcore.InfoLevel, ""
	}
	return f.Core.Write(entry, fields)
}

// cancelled reports whether the error of a line is context.Canceled.
func cancelled(fields []zapcore.Field) bool {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType && errors.Is(err, context.Canceled) {
			return true
		}
	}
	return false
}

// parseLevel parses a value of the flag -zap-log-level.
func parseLevel(text string) (zapcore.Level, error) {
	var options zap.Options
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	options.BindFlags(flags)
	if err := flags.Set("zap-log-level", text); err != nil {
		return 0, errors.New("want debug, info, error, panic, or a number above 0 for more detail")
	}
	return zapcore.LevelOf(options.Level), nil
}

// formatLevel returns the value of the flag for a level.
func formatLevel(level zapcore.Level) string {
	if level < zapcore.DebugLevel {
		return strconv.Itoa(-int(level))
	}
	return level.String()
}

// ServeHTTP implements http.Handler for [LogLevelPath].
func (l *logs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		const most = 100
		text, err := io.ReadAll(io.LimitReader(r.Body, most))
		level, wrong := parseLevel(strings.TrimSpace(string(text)))
		if err := cmp.Or(err, wrong); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		former := l.level.Level()
		l.level.SetLevel(level)
		l.Info("the level of the log is changed", "from", formatLevel(former), "to", formatLevel(level))
	}
	_, _ = io.WriteString(w, formatLevel(l.level.Level())+"\n")
}

// serveLevel serves the level if the metrics server authenticates requests.
func (p *process) serveLevel(mgr manager.Manager, l *logs) error {
	if p.metrics == off || !bool(p.metricsSecure) {
		return nil
	}
	return mgr.AddMetricsServerExtraHandler(LogLevelPath, l)
}
