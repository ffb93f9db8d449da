package record

import (
	"io"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/recording"
)

type (
	// Options are the settings of a [Recorder]. Dir is required.
	//
	//	type Options struct {
	//		// Dir is the folder that recordings are written to, one file each: <controller>-<namespace>-<name>-<time>.json. It is made
	//		// when it is missing. No other program may write files with that extension there.
	//		Dir string
	//		// Keep is the number of recordings that are kept; the oldest one goes first. Zero is 100.
	//		Keep int
	//		// MaxBytes bounds the size of one recording; a larger one is left out, and the log says so. Zero is 4 MiB.
	//		MaxBytes int
	//		// When chooses the passes that are recorded, by what came of them. Nil records every pass; see [Changes].
	//		When func(reconcile.Report) bool
	//	}
	Options = recording.Options
	// Recorder writes recordings to a folder. It is safe for several controllers and workers at a time. Create it with [New].
	//
	//	type Recorder struct {
	//		// contains filtered or unexported fields
	//	}
	Recorder = recording.Recorder
	// Recording is one pass: what it saw, what it decided, and what became of that. Its JSON form, which Encode writes and [Decode] reads,
	// is stable; it is for people and for the method Replay of a builder.
	//
	//	type Recording struct {
	//		// contains filtered or unexported fields
	//	}
	//
	//	// Encode returns the JSON of the recording, the same bytes for the same content.
	//	func (r *Recording) Encode() ([]byte, error)
	Recording = recording.Recording
)

// New returns a recorder. It fails when the folder cannot be written to, so that an operator says so when it starts.
func New(options Options) (*Recorder, error) { return recording.New(options) }

// Changes chooses the passes that wrote something, failed or were blocked, and leaves out those that found everything as it should be.
func Changes(report reconcile.Report) bool { return recording.Changes(report) }

// Decode reads one recording, of at most 64 MiB. It fails for another version of the form, for unknown fields and for anything after it.
func Decode(from io.Reader) (*Recording, error) { return recording.Decode(from) }
