package oracle_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The variables of the search for children that differ from new ones. hack/prove.sh sets them.
const (
	envSwitchCases = "SWITCH_CASES" // the number of pairs
	envSwitchPair  = "SWITCH_PAIR"  // the only pair to run
)

// A plain test run has the seed 1, and ends after switchSample pairs, or after sampleTime on a busy machine.
const (
	switchSample = 600
	switchSeed   = 1
)

// TestSwitchedIsAsNew searches for a change of a plan after which the child differs from one that is created from the new plan.
func TestSwitchedIsAsNew(t *testing.T) {
	o, config, seed := open(t, switchSeed)
	if err := o.OpenSwitches(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	pairs, started := number(envSwitchCases, switchSample), time.Now()
	most := sampleTime
	if os.Getenv(envSwitchCases) != "" {
		most = 0
	}
	var next atomic.Int64
	var failed atomic.Bool
	try := func(n int) {
		found, err := o.Switch(t.Context(), n)
		if err != nil {
			found = fmt.Sprintf("pair %d: %v", n, err)
		}
		if found != "" {
			failed.Store(os.Getenv(envKeep) == "")
			t.Errorf("%s", found)
		}
	}
	if only := number(envSwitchPair, -1); only >= 0 {
		try(only)
		return
	}
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for !failed.Load() && o.Switches.Pairs() < pairs && (most == 0 || time.Since(started) < most) {
				if n := int(next.Add(1)); n%1000 > 0 {
					try(n)
				} else {
					fmt.Printf("oracle: %d of %d pairs in %s\n", o.Switches.Pairs(), pairs, time.Since(started).Round(time.Second))
				}
			}
		})
	}
	wg.Wait()
	t.Logf("seed %d, %s\n%s", seed, time.Since(started).Round(time.Second), o.Switches)
}
