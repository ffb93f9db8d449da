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

// LogLevelPath is where the metrics server has the level of the log, with the flag -metrics-secure: GET returns it, and PUT sets it to the body,
// a value of the flag -zap-log-level.
const LogLevelPath = "/debug/log-level"

// logs are the logger of a process and its level.
type logs struct {
	logr.Logger
	level uberzap.AtomicLevel
	final logr.Logger // for the last line, without a stack
	ended atomic.Bool // by the last line
}

// newLogs returns what logs to w. When ctx has ended, what was cancelled is no error.
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

// last logs the last line. What a manager without a lease has not waited for would log further ones.
func (l *logs) last(name string, err error) {
	l.ended.Store(true)
	l.final.WithName(name).Error(err, "the operator ends")
}

//nolint:gochecknoglobals // klog has one logger for each process, too
var shareLogger sync.Once

// share gives the logger to what has none of its own: controller-runtime's packages and client-go, such as its leader election. The first one
// of a process counts.
func (l *logs) share() {
	log.SetLogger(l.Logger)
	shareLogger.Do(func() { klog.SetLogger(l.Logger) })
}

// filter leaves lines out that say nothing, and reports what the end of the process has cancelled as information.
type filter struct {
	zapcore.Core
	ctx   context.Context //nolint:containedctx // asked whether it has ended
	ended *atomic.Bool
}

// With implements zapcore.Core.
func (f filter) With(fields []zapcore.Field) zapcore.Core {
	return filter{f.Core.With(fields), f.ctx, f.ended}
}

// Check implements zapcore.Core.
func (f filter) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	// The checks that fail are without their names in it, and package controller logs them.
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

// cancelled reports whether the error of a line is that its request was cancelled.
func cancelled(fields []zapcore.Field) bool {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType && errors.Is(err, context.Canceled) {
			return true
		}
	}
	return false
}

// parseLevel reads a value of the flag -zap-log-level.
func parseLevel(text string) (zapcore.Level, error) {
	var options zap.Options
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	options.BindFlags(flags)
	if err := flags.Set("zap-log-level", text); err != nil {
		return 0, errors.New("want debug, info, error, panic, or a number above 0 for more detail")
	}
	return zapcore.LevelOf(options.Level), nil
}

// formatLevel is the value of the flag for a level.
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

// serveLevel serves the level where it is protected.
func (p *process) serveLevel(mgr manager.Manager, l *logs) error {
	if p.metrics == off || !bool(p.metricsSecure) {
		return nil
	}
	return mgr.AddMetricsServerExtraHandler(LogLevelPath, l)
}
