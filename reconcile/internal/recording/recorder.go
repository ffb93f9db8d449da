package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

const (
	defaultKeep     = 100
	defaultMaxBytes = 4 << 20 // 4 MiB

	extension = ".json"
	// maxName keeps the names of files below the 255 bytes that file systems allow.
	maxName = 180
)

// Options are the settings of a [Recorder]. Dir is required.
type Options struct {
	// Dir is the folder that recordings are written to, one file each: <controller>-<namespace>-<name>-<time>.json. It is made
	// when it is missing. No other program may write files with that extension there.
	Dir string
	// Keep is the number of recordings that are kept; the oldest one goes first. Zero is 100.
	Keep int
	// MaxBytes bounds the size of one recording; a larger one is left out, and the log says so. Zero is 4 MiB.
	MaxBytes int
	// When chooses the passes that are recorded, by what came of them. Nil records every pass; see [Changes].
	When func(reconcile.Report) bool
}

// Changes chooses the passes that wrote something, failed or were blocked, and leaves out those that found everything as it
// should be.
func Changes(report reconcile.Report) bool {
	if report.StatusWritten || report.Blocked != nil || len(report.Outcome.Retry)+len(report.Outcome.Terminal) > 0 {
		return true
	}
	for i := range report.Applied.Objects {
		if report.Applied.Objects[i].Wrote() {
			return true
		}
	}
	return false
}

// Recorder writes recordings to a folder. It is safe for several controllers and workers at a time. Create it with [New].
type Recorder struct {
	options Options

	mu    sync.Mutex
	files []string // in the order in which they were written
}

// New returns a recorder. It fails when the folder cannot be written to, so that an operator says so when it starts.
func New(options Options) (*Recorder, error) {
	if options.Dir == "" {
		return nil, errors.New("record: Dir is required: the folder that recordings are written to")
	}
	if options.Keep < 0 || options.MaxBytes < 0 {
		return nil, fmt.Errorf("record: Keep %d and MaxBytes %d must not be negative", options.Keep, options.MaxBytes)
	}
	if options.Keep == 0 {
		options.Keep = defaultKeep
	}
	if options.MaxBytes == 0 {
		options.MaxBytes = defaultMaxBytes
	}
	if err := os.MkdirAll(options.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("record: make the folder: %w", err)
	}
	probe, err := os.CreateTemp(options.Dir, ".probe-*")
	if err != nil {
		return nil, fmt.Errorf("record: the folder cannot be written to: %w", err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, fmt.Errorf("record: the folder cannot be written to: %w", err)
	}
	found, err := filepath.Glob(filepath.Join(options.Dir, "*"+extension))
	if err != nil {
		return nil, fmt.Errorf("record: list the folder: %w", err)
	}
	slices.SortFunc(found, older)
	return &Recorder{options: options, files: found}, nil
}

// Reconciler returns the pipeline with its passes recorded; with a nil recorder the pipeline itself. The scheme names the
// kinds in the recordings. That a pass cannot be recorded is logged and changes nothing for the pass, but it takes the time of
// writing a file. The builder of reconcile/controller calls it, for its option Record.
func Reconciler[T reconcile.Owner, F, O any](
	loop *pipeline.Pipeline[T, F, O], recorder *Recorder, options ReplayOptions,
) ctrl.Reconciler {
	if recorder == nil {
		return loop
	}
	return &recording[T, F, O]{pipeline: loop, recorder: recorder, options: options}
}

// recording is a pipeline whose passes are recorded.
type recording[T reconcile.Owner, F, O any] struct {
	pipeline *pipeline.Pipeline[T, F, O]
	recorder *Recorder
	options  ReplayOptions
}

// Reconcile runs one pass and records it.
func (r *recording[T, F, O]) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	t := newTape(r.pipeline.Name, request, r.options.Scheme)
	t.when = r.recorder.options.When
	loop := r.pipeline.With(func(c *pipeline.Config[T, F, O]) { attach(t, c) })
	result, err := loop.Reconcile(ctx, request)
	if broken := r.save(ctx, t); broken != nil {
		log.FromContext(ctx).Error(broken, "the pass could not be recorded")
	}
	return result, err
}

func (r *recording[T, F, O]) save(ctx context.Context, t *tape) error {
	original, err := t.recording()
	if original == nil || err != nil {
		return err
	}
	safe, err := redacted(log.IntoContext(ctx, logr.Discard()), r.pipeline.Config, original, r.options)
	if err != nil {
		return err
	}
	data, err := safe.Encode()
	if err != nil {
		return err
	}
	_, err = r.recorder.write(safe, data)
	return err
}

// write stores the recording under its name, whole or not at all, and removes the oldest ones.
func (r *Recorder) write(rec *Recording, data []byte) (path string, err error) {
	if len(data) > r.options.MaxBytes {
		return "", fmt.Errorf("record: the recording has %d bytes, more than MaxBytes %d", len(data), r.options.MaxBytes)
	}
	file, err := os.CreateTemp(r.options.Dir, ".recording-*")
	if err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it is there only when the rename has failed
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("record: write %s: %w", file.Name(), err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	path = r.free(fileName(rec))
	if err := os.Rename(file.Name(), path); err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	r.files = append(r.files, path)
	for len(r.files) > r.options.Keep {
		if err := os.Remove(r.files[0]); err != nil && !errors.Is(err, os.ErrNotExist) {
			return path, fmt.Errorf("record: remove the oldest recording: %w", err)
		}
		r.files = r.files[1:]
	}
	return path, nil
}

// free adds a number to a name that is taken: clocks may be coarse, or stand still.
func (r *Recorder) free(name string) string {
	path := filepath.Join(r.options.Dir, name+extension)
	for n := 2; slices.Contains(r.files, path); n++ {
		path = filepath.Join(r.options.Dir, fmt.Sprintf("%s-%d%s", name, n, extension))
	}
	return path
}

// fileName names the owner and the time. A name that is too long is cut and has a hash of the whole.
func fileName(rec *Recording) string {
	name := rec.Controller + "-" + rec.Request.Namespace + "-" + rec.Request.Name
	plain := strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\:%`, c) {
			return '_'
		}
		return c
	}, name)
	if len(plain) > maxName || plain != name {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(name))
		plain = fmt.Sprintf("%.*s-%016x", maxName, plain, hash.Sum64())
	}
	return plain + "-" + rec.Now.UTC().Format(stampForm)
}

const stampForm = "20060102T150405.000000000Z"

// stamped finds the time, and the number, in the name of a file.
var stamped = regexp.MustCompile(`([0-9]{8}T[0-9]{6}\.[0-9]{9}Z)(?:-([0-9]+))?\.json$`)

// older orders files by the time and the number in their names; times of one form sort as text.
func older(a, b string) int {
	x, y := stamped.FindStringSubmatch(a), stamped.FindStringSubmatch(b)
	if x == nil || y == nil {
		return strings.Compare(a, b)
	}
	return cmp.Or(strings.Compare(x[1], y[1]), cmp.Compare(len(x[2]), len(y[2])), strings.Compare(x[2], y[2]))
}
