package conditions

// Option changes how a transition of a condition is told. Options are applied in order, a later one wins.
type Option interface {
	// ApplyToCondition writes the option into the options of one [Manager.Set].
	ApplyToCondition(options *Options)
}

// Options is what the [Option] values of one [Manager.Set] add up to. The zero value is [AsInfo]: a Normal event and a log line
// at V(0), with the condition's own texts.
type Options struct {
	// NoEvent keeps a transition out of the events.
	NoEvent bool
	// Warning makes the event a Warning; unset it is Normal.
	Warning bool
	// EventReason replaces the condition's reason in the event; empty keeps it.
	EventReason string
	// EventMessage replaces the text of the event; empty keeps it.
	EventMessage string

	// NoLog keeps a transition out of the log.
	NoLog bool
	// ErrorLog logs at the error level, without an error value; unset it is info at Level.
	ErrorLog bool
	// Level is the verbosity (logr's V) of an info line, 0 by default.
	Level int
	// LogMessage replaces the text of the log line; empty keeps it.
	LogMessage string
}

// ApplyToCondition implements [Option]: it replaces all options before it.
func (o Options) ApplyToCondition(options *Options) { *options = o }

// Announcement is the usual combination of event and log of a condition.
type Announcement int

const (
	// AsInfo is the default: a Normal event and an info line at V(0).
	AsInfo Announcement = iota
	// AsWarning is for what may need attention: a Warning event and an info line at V(0).
	AsWarning
	// AsError is for what needs somebody: a Warning event and an error line.
	AsError
	// Silent tells nothing.
	Silent
)

// ApplyToCondition implements [Option].
func (a Announcement) ApplyToCondition(options *Options) {
	options.NoEvent, options.Warning = a == Silent, a == AsWarning || a == AsError
	options.NoLog, options.ErrorLog, options.Level = a == Silent, a == AsError, 0
}

// EventKind switches the event of a condition alone.
type EventKind int

const (
	// NormalEvent tells a transition with a Normal event.
	NormalEvent EventKind = iota
	// WarningEvent tells a transition with a Warning event.
	WarningEvent
	// NoEvent tells a transition with no event.
	NoEvent
)

// ApplyToCondition implements [Option].
func (k EventKind) ApplyToCondition(options *Options) {
	options.NoEvent, options.Warning = k == NoEvent, k == WarningEvent
}

// Level logs a transition as info at this verbosity (logr's V): 0 is the default, 1 is debug. A negative level logs nothing.
type Level int

// ApplyToCondition implements [Option].
func (l Level) ApplyToCondition(options *Options) {
	options.NoLog, options.ErrorLog, options.Level = l < 0, false, max(int(l), 0)
}

// EventReason replaces the reason of the event.
type EventReason string

// ApplyToCondition implements [Option].
func (r EventReason) ApplyToCondition(options *Options) { options.EventReason = string(r) }

// EventMessage replaces the text of the event.
type EventMessage string

// ApplyToCondition implements [Option].
func (t EventMessage) ApplyToCondition(options *Options) { options.EventMessage = string(t) }

// LogMessage replaces the text of the log line.
type LogMessage string

// ApplyToCondition implements [Option].
func (t LogMessage) ApplyToCondition(options *Options) { options.LogMessage = string(t) }

// Every option is an [Option].
var (
	_ Option = Options{}
	_ Option = AsInfo
	_ Option = NormalEvent
	_ Option = Level(0)
	_ Option = EventReason("")
	_ Option = EventMessage("")
	_ Option = LogMessage("")
)
