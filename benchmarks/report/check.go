package report

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/benchmarks/subject"
)

// The limits that the SDK promises.
const (
	maxOverReads    = 2.0  // CPU of a steady pass relative to the cached reads,
	maxAllocations  = 1.0  // and its allocations relative to theirs,
	minChildren     = 5    // with at least so many children
	maxOverBare     = 1.2  // wall time of converge relative to the bare client
	maxStatusWrites = 2    // for each owner, in converge
	maxKeptBytes    = 1024 // per child, in addition to the informers' cache,
	maxReadBytes    = 256  // and per read of it
	maxForeign      = 1.5  // heap with unrelated objects relative to that without, with the cache of an operator
)

// Check compares the rows of reconcilekit with the promised limits and with the other subjects, and returns a sentence for each
// violation. Missing rows are not checked.
func Check(rows []Row) []string {
	c := checker{rows: rows}
	for i := range rows {
		row := &rows[i]
		if !subject.IsKit(row.Subject) {
			continue
		}
		switch row.Scenario {
		case "steady":
			c.steady(row)
		case "converge":
			c.converge(row)
		case "restart":
			c.silent(row)
			c.atMost(row, "bytes kept for each child beyond the cache", kept(row), mayKeep(row.Subject))
		case "churn":
			c.silent(row)
		case "drift":
			c.exactly(row, "writes of children", row.ChildWrites, float64(row.Expected))
			c.exactly(row, "edits that were not repaired", float64(row.Left), 0)
		case "foreign":
			c.silent(row)
			if row.Subject == subject.KitOperator || row.Subject == subject.KitFiltered {
				c.atMost(row, "times the heap without objects of others", row.HeapTimes, maxForeign)
			}
		case "outage":
			c.exactly(row, "children and owners that are not as planned", float64(row.Left), 0)
		case "prune":
			c.exactly(row, "orphans", float64(row.Left), 0)
		}
	}
	return c.violations
}

type checker struct {
	rows       []Row
	violations []string
}

func (c *checker) steady(row *Row) {
	c.exactly(row, "requests", requests(row), 0)
	if row.Subject == subject.KitWithHealth || row.Children < minChildren {
		return // it reads every child once more than the baseline; with fewer children the owner itself dominates
	}
	if reads := c.find(row, subject.CachedReads); reads != nil {
		c.atMost(row, "times the CPU of the cached reads", row.CPUMicroseconds/reads.CPUMicroseconds, maxOverReads)
		c.atMost(row, "times the allocations of the cached reads", float64(row.Allocs)/float64(reads.Allocs), maxAllocations)
	}
	if hand := c.find(row, subject.CreateOrUpdate); hand != nil {
		c.atMost(row, "times the CPU of CreateOrUpdate", row.CPUMicroseconds/hand.CPUMicroseconds, 1)
	}
}

func (c *checker) converge(row *Row) {
	owners, children := float64(row.Owners), float64(row.Owners*row.Children)
	c.exactly(row, "writes of children", row.ChildWrites, children)
	c.exactly(row, "writes of the owners' metadata", row.OwnerWrites, owners)
	c.atMost(row, "status writes", row.StatusWrites, maxStatusWrites*owners)
	if row.Subject != subject.Kit {
		return // the other subjects do not alternate with the bare client
	}
	if bare := c.find(row, subject.BareClient); bare != nil {
		c.atMost(row, "times the wall time of the bare client", row.Microseconds/bare.Microseconds, maxOverBare)
	}
}

// silent checks that nothing was written.
func (c *checker) silent(row *Row) {
	c.exactly(row, "writes", row.Writes+row.StatusWrites, 0)
	c.exactly(row, "dry-runs", row.DryRuns, 0)
}

// find returns the row of another subject for the same work.
func (c *checker) find(row *Row, other string) *Row {
	for i := range c.rows {
		r := &c.rows[i]
		if r.Subject == other && r.Scenario == row.Scenario && r.Owners == row.Owners && r.Children == row.Children {
			return r
		}
	}
	return nil
}

func (c *checker) exactly(row *Row, what string, got, want float64) {
	if got != want {
		c.add(row, fmt.Sprintf("%s %s, promised exactly %s", figure(got), what, figure(want)))
	}
}

func (c *checker) atMost(row *Row, what string, got, limit float64) {
	if got > limit {
		c.add(row, fmt.Sprintf("%s %s, promised at most %s", figure(got), what, figure(limit)))
	}
}

func (c *checker) add(row *Row, text string) {
	c.violations = append(c.violations, fmt.Sprintf("%s %s %dx%d: %s", row.Scenario, row.Subject, row.Owners, row.Children, text))
}

func requests(row *Row) float64 {
	total := 0.0
	for _, n := range row.Requests {
		total += n
	}
	return total
}

// mayKeep returns how many bytes a subject may use per child.
func mayKeep(name string) float64 {
	if name == subject.KitWithHealth { // the only subject that reads its children
		return maxKeptBytes + maxReadBytes
	}
	return maxKeptBytes
}

func kept(row *Row) float64 {
	if row.KeptBytesPerChild == nil {
		return 0
	}
	return *row.KeptBytesPerChild
}
