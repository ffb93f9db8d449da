package oracle

import (
	"context"
	"fmt"
	"strings"
)

// Shrink repeats the sequence of a failure with as few steps as still violate the same property. It returns the shortest failure found.
func (o *Oracle) Shrink(ctx context.Context, f *Failure) *Failure {
	const tries = 60
	skip := map[int]bool{}
	for i := f.Steps; i < stepCount; i++ {
		skip[i] = true
	}
	n := 0
	for chunk := 8; chunk >= 1; chunk /= 2 {
		for first := 1; first < stepCount && n < tries; first += chunk {
			tried := map[int]bool{}
			news := false
			for i := range stepCount {
				tried[i] = skip[i] || (i >= first && i < first+chunk)
				news = news || tried[i] != skip[i]
			}
			if !news {
				continue
			}
			n++
			shorter, err := o.run(ctx, f.Number, fmt.Sprintf("-s%d", n), tried, newTally())
			if err == nil && shorter != nil && shorter.Property == f.Property {
				f, skip = shorter, tried
			}
		}
	}
	return f
}

// String formats the sequence with its seed and number.
func (f *Failure) String() string {
	return fmt.Sprintf("seed %d sequence %d violates %q; repeat with ORACLE_SEED=%d ORACLE_SEQUENCE=%d:\n%s",
		f.Seed, f.Number, f.Property, f.Seed, f.Number, strings.Join(f.Sequence, "\n"))
}
