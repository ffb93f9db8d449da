package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"golang.org/x/term"
)

// screen displays the demo: on a terminal as one picture that is redrawn, with colours; elsewhere as plain lines, one for each change.
type screen struct {
	out    io.Writer
	size   func() (width, height int) // of the terminal; 0 where there is none
	colour bool
	began  time.Time
	acted  time.Time // start of the first step
	// brief is the mode for a demo with a script: the steps and their facts remain on the screen, and the picture is shown only while the
	// demo waits for one.
	brief bool

	mu    sync.Mutex
	drawn int               // lines of the current picture
	seen  map[string]string // last text about an object
	told  []string          // steps, facts and summary, without times
}

func newScreen(file *os.File) *screen {
	s := &screen{out: file, size: func() (int, int) { return 0, 0 }, began: time.Now(), seen: map[string]string{}}

	if fd := int(file.Fd()); term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		s.colour = os.Getenv("NO_COLOR") == ""
		s.size = func() (int, int) {
			width, height, err := term.GetSize(fd)
			if err != nil || width < 1 || height < 1 {
				return 80, 24
			}

			return width, height
		}
	}

	return s
}

// step prints the start of a part of the demo.
func (s *screen) step(what string) {
	s.say(s.paint("1", "== "+what))
}

// act prints the start of a step of the script.
func (s *screen) act(heading string) {
	if s.acted.IsZero() {
		s.acted = time.Now()
	}

	s.step(heading)
	s.record(heading)
}

// fact prints the result of a step, and its duration.
func (s *screen) fact(after time.Duration, seen string) {
	s.say(s.paint("32", fmt.Sprintf("%7.1fs", after.Seconds())) + "  " + seen)
	s.record("     " + seen)
}

// record records a line for the README.
func (s *screen) record(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.told = append(s.told, generatedName.ReplaceAllString(line, "-..."))
}

// generatedName matches the suffix that ReplicaSets and Deployments append to the names of Pods.
var generatedName = regexp.MustCompile(`-[0-9a-f]{8,10}-[0-9a-z]{5}\b`) //nolint:gochecknoglobals // a constant

// recorded returns the lines for the README.
func (s *screen) recorded() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.told)
}

// live reports whether there is a terminal, where a picture can be redrawn.
func (s *screen) live() bool {
	width, _ := s.size()

	return width > 0
}

// say prints a line below everything.
func (s *screen) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.brief {
		s.erase()
	}

	// The picture remains and a new one begins below the line.
	s.drawn = 0

	fmt.Fprintln(s.out, line)
}

// erase removes the picture from the terminal.
func (s *screen) erase() {
	if s.drawn > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\x1b[J", s.drawn)
	}
}

// draw displays the actors.
func (s *screen) draw(elapsed time.Duration, actors []actor) {
	s.mu.Lock()
	defer s.mu.Unlock()

	width, height := s.size()
	if width == 0 {
		if !s.brief {
			s.changes(elapsed, actors)
		}

		return
	}

	lines := []string{s.paint("2", fmt.Sprintf("-- %s", elapsed.Round(100*time.Millisecond)))}
	for _, a := range actors {
		lines = append(lines, s.lines(a, width)...)
	}

	// A picture that is taller than the terminal cannot be redrawn.
	if room := height - 1; len(lines) > room {
		lines = append(lines[:max(1, room-1)], fmt.Sprintf("… %d more lines", len(lines)-room+1))
	}

	s.erase()

	fmt.Fprintln(s.out, strings.Join(lines, "\n"))
	s.drawn = len(lines)
}

// lines returns the lines of one actor in the picture.
func (s *screen) lines(a actor, width int) []string {
	if a.depth > 0 {
		name := strings.Repeat("  ", a.depth) + a.kind + " " + a.key

		return []string{s.fit(name, width-36) + " " + s.state(a) + " " + s.fit(a.component.GetReason(), 22)}
	}

	lines := []string{s.paint("1", s.fit(a.kind+" "+a.key, width))}

	for _, c := range a.conditions {
		paint := "33"

		switch c.Status {
		case "True":
			paint = "32"
		case "False":
			paint = "31"
		}

		text := fmt.Sprintf("%-22s %s", c.Reason, c.Message)
		lines = append(lines, fmt.Sprintf("  %-28s %s %s", c.Type, s.paint(paint, fmt.Sprintf("%-7s", c.Status)), s.fit(text, width-40)))
	}

	return lines
}

// changes prints a line for each change since the last call.
func (s *screen) changes(elapsed time.Duration, actors []actor) {
	stamp := fmt.Sprintf("%6.1fs ", elapsed.Seconds())

	for _, a := range actors {
		object := strings.Repeat("  ", a.depth) + a.kind + " " + a.key

		if a.depth > 0 {
			s.change(stamp, object, strings.TrimSpace(string(a.component.GetState())+" "+a.component.GetReason()))

			continue
		}

		if len(a.conditions) == 0 {
			s.change(stamp, object, "no conditions yet")
		}

		for _, c := range a.conditions {
			s.change(stamp, object+" "+c.Type, strings.TrimSpace(c.Status+" "+c.Reason+": "+c.Message))
		}
	}
}

func (s *screen) change(stamp, what, now string) {
	if s.seen[what] == now {
		return
	}

	s.seen[what] = now

	fmt.Fprintln(s.out, stamp+what+": "+now)
}

// settled prints that everything is ready.
func (s *screen) settled(after time.Duration) {
	s.say(s.paint("32", fmt.Sprintf("ready after %s", after.Round(100*time.Millisecond))))
}

// totals are the figures of the summary.
type totals struct {
	steps      int
	actors     []actor
	busy, idle requestCounts // until the end of the last step, and in steady state
	restarts   int
}

// summary prints the end of a successful demo.
func (s *screen) summary(t totals) {
	owners, children := 0, 0

	for _, a := range t.actors {
		switch a.depth {
		case 0:
			owners++
		case 1:
			children++
		}
	}

	all, took := time.Since(s.began), time.Since(s.acted)-settle-rest

	s.step("summary")

	if s.brief {
		s.say(fmt.Sprintf("steps                 %d, all as in the script", t.steps))
		s.say(fmt.Sprintf("owners in the end     %d, with %d children", owners, children))
		s.say(fmt.Sprintf("API requests          %s of the operator in all steps, watches and discovery included", t.busy))
	} else {
		s.say(fmt.Sprintf("owners ready          %d, with %d children", owners, children))
		s.say(fmt.Sprintf("API requests          %s until ready, watches and discovery included", t.busy))
	}

	s.say(fmt.Sprintf("API requests, steady  %s in %s", t.idle, rest))

	if t.restarts > 0 {
		s.say(fmt.Sprintf("operator restarts     %d; the requests are those of the last process", t.restarts))
	}

	if s.brief {
		s.say(fmt.Sprintf("time of all steps     %s", took.Round(time.Second)))
	} else {
		s.portray(t.actors)
	}

	s.say(fmt.Sprintf("time                  %s in total", all.Round(time.Second)))

	minutes := int(took/time.Minute) + 1
	s.record(fmt.Sprintf("Summary: %d of %d steps in less than %d min. The operator sent about %d requests; in steady state it sent %s in %s. Owners in the end: %d, with %d children.",
		t.steps, t.steps, minutes, t.busy.rounded(), t.idle, rest, owners, children))
}

// portray records the actors at the end.
func (s *screen) portray(actors []actor) {
	for _, a := range actors {
		line := strings.Repeat("  ", a.depth) + "     " + a.kind + " " + a.key
		if a.depth > 0 {
			line += ": " + strings.TrimSpace(string(a.component.GetState())+" "+a.component.GetReason())
		}

		s.record(line)

		for _, c := range a.conditions {
			s.record(fmt.Sprintf("       %s: %s, %s (%s)", c.Type, c.Status, c.Reason, c.Message))
		}
	}
}

// state returns the coloured state of a child.
func (s *screen) state(a actor) string {
	paint := "33"

	switch a.component.GetState() {
	case health.Ready:
		paint = "32"
	case health.Failed, health.NotAvailable, health.Degraded:
		paint = "31"
	case health.Starting, health.Progressing, health.Pending:
	}

	return s.paint(paint, fmt.Sprintf("%-12s", a.component.GetState()))
}

// paint adds a colour to text, if colours are supported.
func (s *screen) paint(code, text string) string {
	if !s.colour {
		return text
	}

	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// fit pads or truncates a line to a width, so that no line of the picture wraps.
func (s *screen) fit(text string, width int) string {
	runes := []rune(text)
	if width = max(width, 10); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}

	return text + strings.Repeat(" ", width-len(runes))
}
