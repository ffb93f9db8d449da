package reconcile

import (
	"context"
	"fmt"
)

// Migrator is implemented by reconcilers of a type whose objects may be stored in an older form, such as a field that was
// renamed within a version. The pass rewrites such an object and does nothing else; the next pass sees the new form.
//
// It is for moving what the user has written. A default belongs into the effective spec, computed in memory: what a
// controller writes into a spec cannot be told from what a user wrote.
type Migrator[T Owner] interface {
	// Migrate changes the owner, a copy, to the current form. It is a pure function, and changes nothing in an object that
	// is in the current form already.
	Migrate(owner T)
}

// migrate rewrites an owner that is in an older form, and reports whether the pass ends with that.
func (p *pass[T, F, O]) migrate(ctx context.Context, report *Report) (ends bool) {
	if p.phases.migrator == nil {
		return false
	}
	after := p.owner.DeepCopyObject().(T) //nolint:forcetypeassert // a deep copy has the type of its original
	var written bool
	var err error
	broken := p.run(ctx, PhaseMigrate, func(ctx context.Context) {
		p.phases.migrator.Migrate(after)
		written, err = p.StatusWriter.Rewrite(ctx, p.owner, after)
	})
	switch {
	case broken != nil:
		report.Outcome.Fail(broken)
	case err != nil:
		report.Outcome.Fail(fmt.Errorf("migrate the owner: %w", err))
	case written:
		p.owners.wrote(after, p.rc.Now)
	default:
		return false
	}
	return true
}
