package trace

import (
	"path"
	"strings"
)

// Way is a way through rooms.
type Way struct {
	// Calls counts the calls from one room to another.
	Calls int
	// Stays are the rooms in the order in which they were visited.
	Stays []string
}

// Rooms counts the different rooms of the way.
func (w Way) Rooms() int {
	seen := map[string]bool{}
	for _, room := range w.Stays {
		seen[room] = true
	}
	return len(seen)
}

// Returns counts the visits to a room that had been left before.
func (w Way) Returns() int { return len(w.Stays) - w.Rooms() }

// Recorder follows the calls below some functions, as a reader of the source does: what a function calls in a loop is followed once, and
// a function that calls itself, whatever lies between, leads back to where it was begun. It is not safe for concurrent use.
type Recorder struct {
	roots  map[string]bool
	leaves map[string]bool
	room   func(file string) string
	at     *call // nil outside of the roots
	stack  []*call
	way    Way
}

// call is one function as reached by one path of calls.
type call struct {
	function string
	room     string
	leaf     bool
	caller   *call
	callees  map[string]*call
}

// NewRecorder follows the calls below the roots ("decide.Child"), but not what the packages called leaves ("compare") call in turn. A room
// is a package or, with files set, a file.
func NewRecorder(files bool, leaves []string, roots ...string) *Recorder {
	r := &Recorder{roots: map[string]bool{}, leaves: map[string]bool{}, room: path.Dir}
	for _, leaf := range leaves {
		r.leaves[leaf] = true
	}
	if files {
		r.room = func(file string) string { return file }
	}
	for _, root := range roots {
		r.roots[root] = true
	}
	return r
}

// Take returns the way since the last call.
func (r *Recorder) Take() Way {
	way := r.way
	r.way = Way{}
	return way
}

// enter notes a call and reports whether it is followed. The caller stays where it is, unless it has been elsewhere since: then it was
// come back to.
func (r *Recorder) enter(file, function string) bool {
	if r.at == nil && !r.roots[function] {
		return false
	}
	r.stack = append(r.stack, r.at)
	if r.at != nil && r.at.leaf {
		return true
	}
	for c := r.at; c != nil; c = c.caller {
		if c.function == function && c.room == r.room(file) {
			r.at = c
			return true
		}
	}
	key := file + " " + function
	if r.at != nil && r.at.callees[key] != nil {
		r.at = r.at.callees[key]
		return true
	}
	next := &call{function: function, room: r.room(file), leaf: r.leaves[path.Dir(file)], caller: r.at, callees: map[string]*call{}}
	if r.at != nil {
		r.at.callees[key] = next
		if r.at.room != next.room {
			r.visit(r.at.room)
			r.way.Calls++
		}
	}
	r.visit(next.room)
	r.at = next
	return true
}

func (r *Recorder) leave() {
	n := len(r.stack) - 1
	r.at, r.stack = r.stack[n], r.stack[:n]
}

func (r *Recorder) visit(room string) {
	if n := len(r.way.Stays); n == 0 || r.way.Stays[n-1] != room {
		r.way.Stays = append(r.way.Stays, room)
	}
}

var recorders []*Recorder //nolint:gochecknoglobals // instrumented functions have nowhere else to look

// Follow lets the recorders follow the calls of this process from now on.
func Follow(r ...*Recorder) { recorders = r }

// Call notes that a function is called, and returns what notes its end. file is "package/file.go", function "package.Name".
func Call(file, function string) func() {
	var followed []*Recorder
	for _, r := range recorders {
		if r.enter(file, function) {
			followed = append(followed, r)
		}
	}
	return func() {
		for _, r := range followed {
			r.leave()
		}
	}
}

// Short is the way in one line.
func (w Way) Short() string { return strings.Join(w.Stays, " ") }
