package trigger

// Len counts the owners that are remembered.
func (s *StatusWrites) Len() int { return len(s.owners) }
