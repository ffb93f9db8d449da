package controller

import (
	"errors"
	"fmt"
	"slices"
)

// lifted returns the options with the settings of the engine copied to Apply, from which the builder reads them. An option
// with two different values, and one that the builder sets itself, are errors.
func (o Options) lifted() (Options, error) {
	var errs []error
	both := func(name string, direct, ofApply fmt.Stringer) {
		errs = append(errs, fmt.Errorf("options: %s is %s and Apply.%s is %s: leave one of the two out", name, direct, name, ofApply))
	}
	for _, name := range []struct {
		name    string
		direct  string
		ofApply *string
	}{
		{"FieldManager", o.FieldManager, &o.Apply.FieldManager},
		{"Finalizer", o.Finalizer, &o.Apply.Finalizer},
	} {
		switch {
		case name.direct == "":
		case *name.ofApply != "" && *name.ofApply != name.direct:
			both(name.name, quoted{name.direct}, quoted{*name.ofApply})
		default:
			*name.ofApply = name.direct
		}
	}
	switch {
	case len(o.FormerManagers) == 0:
	case len(o.Apply.FormerManagers) > 0 && !slices.Equal(o.FormerManagers, o.Apply.FormerManagers):
		both("FormerManagers", quoted{o.FormerManagers}, quoted{o.Apply.FormerManagers})
	default:
		o.Apply.FormerManagers = o.FormerManagers
	}
	switch {
	case o.ContestInterval == 0:
	case o.Apply.ContestInterval != 0 && o.Apply.ContestInterval != o.ContestInterval:
		both("ContestInterval", o.ContestInterval, o.Apply.ContestInterval)
	default:
		o.Apply.ContestInterval = o.ContestInterval
	}
	if o.Apply.Kinds != nil {
		errs = append(errs, errors.New("Options.Apply.Kinds is set: the builder sets it from Owns, Writes and Retired"))
	}
	return o, errors.Join(errs...)
}

// quoted formats a string or a slice of strings with quotes.
type quoted struct{ value any }

func (q quoted) String() string { return fmt.Sprintf("%q", q.value) }
