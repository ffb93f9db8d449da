package run

// Beside runs passes in the middle of the one that is under way, from their beginning to their end: those of other owners and controllers
// that have a worker left.
func (i *Instance) Beside() {
	under := i.Passes
	for _, other := range i.Scheduler.Beside() {
		i.Passes++
		i.Wire.Enter(i.Passes)
		if err := i.Scheduler.Run(other); err != nil {
			i.hung = err
		}
	}
	i.Wire.Enter(under)
}
