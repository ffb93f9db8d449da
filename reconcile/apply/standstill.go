package apply

import "fmt"

// standstill keeps or removes the finalizer, and leaves the children and the
// rest of the inventory alone.
func (p *pass) standstill() Result {
	if p.group != nil {
		return p.result // it has neither
	}
	recorded, err := p.recorded()
	if err == nil && recorded.Finalizer != p.set.Hold {
		wanted := *recorded
		wanted.Finalizer = p.set.Hold
		if err = p.record(&wanted); err != nil {
			err = fmt.Errorf("record the standstill: %w", err)
		}
		p.memory.metadata.covered = false // the next plan may need the finalizer again
	}
	p.result.OwnerErr = err
	return p.result
}
