package health

// Dependency reports who provides a component. The zero value is a part of the owner itself: its configuration, a computation.
type Dependency string

const (
	// Upstream components are provided by other parties and required by the owner.
	Upstream Dependency = "Upstream"
	// Downstream components are created by the owner.
	Downstream Dependency = "Downstream"
)

// Component is the health of one part of an owner.
type Component struct {
	// Name determines the condition type `<Name>Ready`, for example "Server"; characters that a condition type cannot contain are removed. A
	// component with neither a name nor a failure is ignored. A failure without a name counts, but has no condition of its own.
	Name string
	// Object is the name of the object that the component reports, for a component that stands for several, such as the Deployments of an
	// owner. Unless it is ready, its message starts with the name. Optional.
	Object string
	// State of the component. Default: derived from the errors.
	State State
	// Reason of its condition. Default: that of the first error, else "Ready".
	Reason string
	// Message of its condition. Default: that of the first error.
	Message string
	// Diagnostics explains the state in more detail than a message can, for example the table of a selection (Explain of package templates).
	// It appears only in explanations, never in a condition, event or log line.
	Diagnostics string
	// Errors of the component, raw or categorised ([Error]); nil entries are skipped.
	Errors []error
	// Dependency reports who provides it.
	Dependency Dependency
	// Child reports that this is the health of a child that the owner applies. It never blocks applying, and an inspector's findings are not
	// retried, because a watch reports changes of the child.
	Child bool
	// Immediate disables the grace period: a failure appears at once. Use it for the result of the operator's own writes, for which an older
	// condition would be wrong.
	Immediate bool
}

// GetState returns State, else the worst state of the errors, else Ready. If State is Ready and there are errors, the errors determine
// the result.
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

// GetReason returns Reason, else that of the first error, else "Ready", or the state if it is not Ready.
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

// GetMessage returns Message, else that of the first error, else "". Unless the component is ready, the message starts with Object.
func (c Component) GetMessage() string {
	message := c.Message
	for i := 0; i < len(c.Errors) && message == ""; i++ {
		if e := Categorize(c.Errors[i]); e != nil {
			message = e.Message
		}
	}
	return about(c.Object, c.GetState(), message)
}

// about returns the message with the name of the object, unless the object is ready.
func about(object string, state State, message string) string {
	if object == "" || state == Ready {
		return message
	}
	return object + ": " + message
}

// Categorized returns the errors with their categories, in order; nil for none. A plain join (errors.Join, the error in
// [Assessment].Retry) is split, and each error is categorised by [Categorize].
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

// Blocking returns the errors that stop the apply, in the order of the components: those for whose category [Category.Blocks] is true,
// except
//
//   - all errors of a child's component ([Component.Child]), and
//   - an inspector's findings about a Downstream component: an [Error] without a cause.
//
// An error with a cause, or one that is not an [Error], comes from a failed call. The state of the children is then unknown, and the
// error blocks.
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
