package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
)

var midnight = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}}
}

// taken returns the names of all ready requests in order.
func taken(s *schedule.Scheduler) (out []string) {
	for {
		next, ready := s.Take()
		if !ready {
			return out
		}
		out = append(out, next.Request.Name)
	}
}

func want(t *testing.T, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadyOnce(t *testing.T) {
	t.Parallel()
	s := schedule.New(schedule.NewClock(midnight))
	websites, shops := s.NewQueue("websites", 1), s.NewQueue("shops", 1)
	websites.Add(request("a"))
	websites.Add(request("b"))
	websites.Add(request("a"))
	shops.Add(request("a"))
	if websites.Len() != 2 || shops.Len() != 1 {
		t.Errorf("%d and %d are ready, want 2 and 1", websites.Len(), shops.Len())
	}
	want(t, taken(s), []string{"a", "b", "a"})
}

// TestOrder checks that Order sorts the requests since its previous call, and leaves earlier requests at the front.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := schedule.New(schedule.NewClock(midnight))
	websites, shops := s.NewQueue("websites", 1), s.NewQueue("shops", 1)
	websites.Add(request("z"))
	websites.Add(request("y"))
	s.Order()
	websites.Add(request("a"))
	shops.Add(request("b"))
	s.Order()
	want(t, taken(s), []string{"y", "z", "b", "a"})

	websites.Add(request("d"))
	websites.Add(request("c"))
	s.Order()
	want(t, taken(s), []string{"c", "d"})
}

func TestOrderAfterTake(t *testing.T) {
	t.Parallel()
	s := schedule.New(schedule.NewClock(midnight))
	q := s.NewQueue("websites", 1)
	q.Add(request("a"))
	q.Add(request("m"))
	s.Order()
	s.Take()
	q.Add(request("c"))
	q.Add(request("b"))
	s.Order()
	want(t, taken(s), []string{"m", "b", "c"})
}

// TestDelay checks that a request is delayed until the earliest of its times.
func TestDelay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after []time.Duration
		added bool
		due   time.Duration // 0 means never
	}{
		"one":                    {after: []time.Duration{time.Hour}, due: time.Hour},
		"the earlier one first":  {after: []time.Duration{time.Minute, time.Hour}, due: time.Minute},
		"the earlier one second": {after: []time.Duration{time.Hour, time.Minute}, due: time.Minute},
		"added during the wait":  {after: []time.Duration{time.Hour}, added: true},
		"immediately":            {after: []time.Duration{0}},
		"in the past":            {after: []time.Duration{-time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := schedule.New(schedule.NewClock(midnight))
			q := s.NewQueue("websites", 1)
			for _, after := range c.after {
				q.AddAfter(request("a"), after)
			}
			if c.added {
				q.Add(request("a"))
			}
			due, planned := s.Due()
			if planned != (c.due > 0) || planned && !due.Equal(midnight.Add(c.due)) {
				t.Errorf("due at %s, %t", due, planned)
			}
			if ready := q.Len() == 1; ready == planned {
				t.Errorf("ready: %t, planned: %t", ready, planned)
			}
		})
	}
}

func TestWake(t *testing.T) {
	t.Parallel()
	clock := schedule.NewClock(midnight)
	s := schedule.New(clock)
	q := s.NewQueue("websites", 1)
	q.AddAfter(request("c"), time.Minute)
	q.AddAfter(request("a"), time.Minute)
	q.AddAfter(request("b"), time.Hour)
	s.MakeReady()
	want(t, taken(s), nil)
	if due, _ := s.Due(); !due.Equal(midnight.Add(time.Minute)) {
		t.Errorf("due at %s: want the first ones after a minute", due)
	}

	clock.Set(midnight.Add(time.Minute))
	s.MakeReady()
	want(t, taken(s), []string{"a", "c"})
	if due, planned := s.Due(); !planned || !due.Equal(midnight.Add(time.Hour)) {
		t.Errorf("due at %s, %t: want the last one after an hour", due, planned)
	}
	clock.Set(midnight) // has no effect: the clock does not go back
	if now := clock.Now(); !now.Equal(midnight.Add(time.Minute)) {
		t.Errorf("the clock shows %s", now)
	}
	if since := clock.Since(midnight); since != time.Minute {
		t.Errorf("%s have passed, want a minute", since)
	}
}

// TestBackoff checks the default backoff of controller-runtime: 5 ms, doubled with each failure, at most 1000 s.
func TestBackoff(t *testing.T) {
	t.Parallel()
	clock := schedule.NewClock(midnight)
	s := schedule.New(clock)
	q := s.NewQueue("websites", 1)
	work(t, s, q)
	waits := map[int]time.Duration{
		0: 5 * time.Millisecond, 1: 10 * time.Millisecond, 7: 640 * time.Millisecond, 17: 655360 * time.Millisecond, 18: 1000 * time.Second, 70: 1000 * time.Second,
	}
	for failures := range 71 {
		now := clock.Now()
		q.AddRateLimited(request("a"))
		due, _ := s.Due()
		if wait, asked := waits[failures]; asked && due.Sub(now) != wait {
			t.Errorf("after %d failures it waits %s, want %s", failures, due.Sub(now), wait)
		}
		clock.Set(due)
		s.MakeReady()
		want(t, ran(t, s), []string{"a"})
	}
	if q.NumRequeues(request("a")) != 71 || q.NumRequeues(request("b")) != 0 {
		t.Errorf("%d and %d failures, want 71 and none", q.NumRequeues(request("a")), q.NumRequeues(request("b")))
	}
	want(t, s.Failing(72), nil)
	want(t, s.Failing(71), []string{"default/a"})
	q.Forget(request("a"))
	want(t, s.Failing(1), nil)
}

// queue is the part of a queue that a worker uses.
type queue interface {
	Get() (reconcile.Request, bool)
	Done(request reconcile.Request)
}

// work takes each request of a queue and finishes it immediately.
func work(t *testing.T, s *schedule.Scheduler, q queue) {
	t.Helper()
	t.Cleanup(s.ShutDown)
	go func() {
		for {
			r, shutdown := q.Get()
			if shutdown {
				return
			}
			q.Done(r)
		}
	}()
}

// ran runs all ready requests, and returns their names in order.
func ran(t *testing.T, s *schedule.Scheduler) (out []string) {
	t.Helper()
	for {
		next, ready := s.Take()
		if !ready {
			return out
		}
		if err := s.Run(next); err != nil {
			t.Fatal(err)
		}
		out = append(out, next.Request.Name)
	}
}

// TestAddedWhileItRuns checks that a request that is added while it runs is run again.
func TestAddedWhileItRuns(t *testing.T) {
	t.Parallel()
	s := schedule.New(schedule.NewClock(midnight))
	q := s.NewQueue("websites", 1)
	q.Add(request("a"))
	next, _ := s.Take()
	var passes int
	go func() {
		for {
			r, shutdown := q.Get()
			if shutdown {
				return
			}
			if passes++; passes == 1 {
				q.Add(r)
				s.Repeat(next)
				if q.Len() != 0 {
					t.Error("a request is ready while it runs")
				}
			}
			q.Done(r)
		}
	}()
	if err := s.Run(next); err != nil {
		t.Fatal(err)
	}
	if q.Len() != 1 {
		t.Fatalf("%d requests are ready, want the one that was added", q.Len())
	}
	next, _ = s.Take()
	if err := s.Run(next); err != nil {
		t.Fatal(err)
	}
	if passes != 2 || q.Len() != 0 {
		t.Errorf("%d passes, and %d are ready, want 2 and none", passes, q.Len())
	}
	s.TriggerAll()
	want(t, taken(s), []string{"a"})
	s.ShutDown()
}

func TestShutDown(t *testing.T) {
	t.Parallel()
	s := schedule.New(schedule.NewClock(midnight))
	q, other := s.NewQueue("websites", 1), s.NewQueue("shops", 1)
	ended := make(chan bool)
	go func() {
		_, shutdown := q.Get()
		ended <- shutdown
	}()
	for s.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	if s.Waiting() != 1 {
		t.Errorf("%d queues have a worker, want one", s.Waiting())
	}
	if q.ShuttingDown() {
		t.Error("shuts down without a request")
	}
	s.ShutDown()
	q.ShutDownWithDrain() // a second call has no effect
	if !<-ended || !q.ShuttingDown() || !other.ShuttingDown() {
		t.Error("a worker or a queue still runs")
	}
}

// TestWakeAll checks that WakeAll enqueues all requests that ever ran, in the order of controllers and names.
func TestWakeAll(t *testing.T) {
	t.Parallel()
	s := schedule.New(schedule.NewClock(midnight))
	websites, shops := s.NewQueue("websites", 1), s.NewQueue("shops", 1)
	work(t, s, websites)
	work(t, s, shops)
	for _, name := range []string{"b", "a"} {
		websites.Add(request(name))
		shops.Add(request(name))
	}
	ran(t, s)
	websites.AddAfter(request("never-ran"), time.Hour)
	s.TriggerAll()
	want(t, ran(t, s), []string{"a", "b", "a", "b"})
}

// TestBeside checks that reconciliations run concurrently if a controller has free workers, and in several controllers.
func TestBeside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workers int
		other   bool // another controller
		want    []string
	}{
		"one worker":                    {workers: 1},
		"two workers":                   {workers: 2, want: []string{"b"}},
		"many workers":                  {workers: 8, want: []string{"b"}},
		"another controller":            {workers: 1, other: true, want: []string{"d"}},
		"workers of another controller": {workers: 2, other: true, want: []string{"d", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := schedule.New(schedule.NewClock(midnight))
			q := s.NewQueue("websites", c.workers)
			for _, name := range []string{"a", "b", "c"} {
				q.Add(request(name))
			}
			if c.other {
				s.NewQueue("shops", 1).Add(request("d"))
			}
			if _, ok := s.Take(); !ok {
				t.Fatal("nothing is ready")
			}
			var got []string
			for _, i := range s.Interleave() {
				got = append(got, i.Request.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, name := range taken(s) {
				if slices.Contains(got, name) {
					t.Errorf("%s is running and was started again", name)
				}
			}
			if overlaps := c.workers > 1 || c.other; s.Overlaps() != overlaps {
				t.Errorf("passes may run concurrently: got %t, want %t", s.Overlaps(), overlaps)
			}
		})
	}
}

// TestSetBack checks that setting the clock back and shifting the schedule keeps the remaining delays.
func TestSetBack(t *testing.T) {
	t.Parallel()
	clock := schedule.NewClock(midnight)
	s := schedule.New(clock)
	s.NewQueue("websites", 1).AddAfter(request("a"), time.Minute)
	clock.SetBack(time.Hour)
	s.Shift(-time.Hour)
	if due, planned := s.Due(); !planned || due.Sub(clock.Now()) != time.Minute || !clock.Now().Before(midnight) {
		t.Errorf("due at %s, %t, at %s: want in a minute", due, planned, clock.Now())
	}
}
