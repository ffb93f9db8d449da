package health

// Dependency reports who provides a component. Zero is a part of the owner itself: its configuration, a computation.
type Dependency string

const (
	// Upstream is provided by others and needed by the owner.
	Upstream Dependency = "Upstream"
	// Downstream is made by the owner.
	Downstream Dependency = "Downstream"
)

// Component is the health of one part of an owner.
type Component struct {
	// Name gives the condition type `<Name>Ready`, e.g. "Server"; characters that a condition type cannot have are left out. A
	// component with neither a name nor a failure means "does not apply" and is ignored; a failure without a name counts, but
	// gets no condition of its own.
	Name string
	// State is how it is; unset it follows from the errors.
	State State
	// Reason is the reason of its condition; unset that of the first error, else "Ready".
	Reason string
	// Message is the message of its condition; unset that of the first error.
	Message string
	// Diagnostics is what a person wants to know who asks why it is not ready, and more than a message has room for, such as the table of a
	// selection (Explain of package templates). It is in explanations alone, never in a condition, event or log line.
	Diagnostics string
	// Errors are what is wrong with it, raw or categorised ([Error]); nil entries are skipped.
	Errors []error
	// Dependency reports who provides it.
	Dependency Dependency
	// Child reports that this is the health of a child that the owner applies: it never blocks applying, and what an
	// inspector found wrong is not tried again, as a watch brings its changes.
	Child bool
	// Immediate takes the component out of the grace period: its failure shows at once. It is for the outcome of the pass's own
	// writes, where keeping an older condition would claim what was not done.
	Immediate bool
}

// GetState returns the state: the one given, else the worst that the errors make, else Ready. One that is given as Ready together
// with errors is what the errors make of it: nothing is ready that failed.
func (c Component) GetState() State {
	if c.State != "" && c.State != Ready {
		return c.State
	}
	state := Ready
	for _, err := range c.Errors {
		if e := Categorize(err); e != nil {
			state = worst(state, e.Category.State())
		}
	}
	return state
}

// GetReason returns the reason: the one given, else that of the first error, else "Ready", or the state when it is another.
func (c Component) GetReason() string {
	if c.Reason != "" {
		return c.Reason
	}
	for _, err := range c.Errors {
		if e := Categorize(err); e != nil && e.Reason != "" {
			return e.Reason
		}
	}
	return string(c.GetState())
}

// GetMessage returns the message: the one given, else that of the first error, else nothing.
func (c Component) GetMessage() string {
	if c.Message != "" {
		return c.Message
	}
	for _, err := range c.Errors {
		if e := Categorize(err); e != nil && e.Message != "" {
			return e.Message
		}
	}
	return ""
}

// Categorized returns the errors with their categories, in order: those of a plain join (errors.Join, the error in [Assessment].Retry) one by one, each
// as [Categorize] reads it; nil for none.
func (c Component) Categorized() []*Error {
	var list []*Error
	for _, err := range c.Errors {
		flatten(err, func(one error) { list = append(list, Categorize(one)) })
	}
	return list
}

// As returns the component under another name.
func (c Component) As(name string) Component {
	c.Name = name
	return c
}

// Blocking returns the errors that stop the apply, in the order of the components: those whose category [Category.Blocks], except
//
//   - all errors of a component that is the health of a child ([Component.Child]), and
//   - the verdict of an inspector about a Downstream component: an [Error] without a cause.
//
// An error with a cause, or one that is no [Error], comes from a call that failed. The state of the children is then
// unknown, and the error blocks.
func Blocking(components []Component) []*Error {
	var list []*Error
	for i := range components {
		c := &components[i]
		if c.Child {
			continue
		}
		for _, e := range c.Categorized() {
			if e.Category.Blocks() && (c.Dependency != Downstream || e.Cause != nil) {
				list = append(list, e)
			}
		}
	}
	return list
}
