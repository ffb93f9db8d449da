package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"golang.org/x/term"
)

// screen shows the demo: on a terminal as one picture that is redrawn, with
// colours; elsewhere as plain lines, one for each change.
type screen struct {
	out    io.Writer
	size   func() (width, height int) // of the terminal; 0 where there is none
	colour bool
	began  time.Time

	mu    sync.Mutex
	drawn int               // lines of the picture that is on the terminal
	seen  map[string]string // what was last said about an object
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

// step announces a part of the demo.
func (s *screen) step(what string) {
	s.say(s.paint("1", "== "+what))
}

// say prints a line below everything.
func (s *screen) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	// The picture stays where it is and a new one begins below the line.
	s.drawn = 0

	fmt.Fprintln(s.out, line)
}

// draw shows the actors.
func (s *screen) draw(elapsed time.Duration, actors []actor) {
	s.mu.Lock()
	defer s.mu.Unlock()

	width, height := s.size()
	if width == 0 {
		s.changes(elapsed, actors)

		return
	}

	lines := []string{s.paint("2", fmt.Sprintf("-- %s", elapsed.Round(100*time.Millisecond)))}
	for _, a := range actors {
		lines = append(lines, s.lines(a, width)...)
	}

	// A picture that is taller than the terminal could not be redrawn.
	if room := height - 1; len(lines) > room {
		lines = append(lines[:max(1, room-1)], fmt.Sprintf("… %d more lines", len(lines)-room+1))
	}

	if s.drawn > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\x1b[J", s.drawn)
	}

	fmt.Fprintln(s.out, strings.Join(lines, "\n"))
	s.drawn = len(lines)
}

// lines are the lines of one actor in the picture.
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

// changes prints a line for what is new since the last time.
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

// settled reports that everything is ready.
func (s *screen) settled(after time.Duration) {
	s.say(s.paint("32", fmt.Sprintf("ready after %s", after.Round(100*time.Millisecond))))
}

// summary is the end of a demo that went well.
func (s *screen) summary(actors []actor, busy, idle requestCounts, restarts int) {
	owners, children := 0, 0

	for _, a := range actors {
		switch a.depth {
		case 0:
			owners++
		case 1:
			children++
		}
	}

	s.step("summary")
	s.say(fmt.Sprintf("owners ready          %d, with %d children", owners, children))
	s.say(fmt.Sprintf("API requests          %s until ready, watches and discovery included", busy))
	s.say(fmt.Sprintf("API requests at rest  %s in %s", idle, rest))

	if restarts > 0 {
		s.say(fmt.Sprintf("operator restarts     %d; the requests are those of the last process", restarts))
	}

	s.say(fmt.Sprintf("time                  %s in all", time.Since(s.began).Round(time.Second)))
}

// state is the painted state of a child.
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

// paint wraps text in a colour, where there are colours.
func (s *screen) paint(code, text string) string {
	if !s.colour {
		return text
	}

	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// fit pads or cuts a line to a width, so that no line of the picture wraps.
func (s *screen) fit(text string, width int) string {
	runes := []rune(text)
	if width = max(width, 10); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}

	return text + strings.Repeat(" ", width-len(runes))
}
