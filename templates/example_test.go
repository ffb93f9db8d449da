package templates_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/templates"
)

// class is a candidate of the examples.
type class struct {
	name, zone, disk string
	ready            bool
	local            bool
	gigabytes        int
}

// selector returns a selector for a ready and large enough class. It prefers a local class to all others, then the
// faster disk.
func selector(gigabytes int) templates.Selector[class] {
	return templates.Selector[class]{
		Name: func(c *class) string { return c.name },
		Filters: []templates.Filter[class]{
			templates.Keep("availability", "NotReady", func(c *class) bool { return c.ready }),
			{
				Name: "size",
				Keep: func(c *class) bool { return c.gigabytes >= gigabytes },
				ReasonFor: func(c *class) string {
					if c.gigabytes == 0 {
						return "SizeUnknown"
					}
					return "TooSmall"
				},
			},
			templates.OnlyBest("scope", "HiddenByLocal", func(c *class) int {
				if c.local {
					return 0
				}
				return 1
			}),
		},
		Preferences: []templates.Preference[class]{
			templates.InOrder("disk", func(c *class) string { return c.disk }, "nvme", "ssd"),
			{Name: "size", Rank: func(c *class) int { return c.gigabytes }},
		},
	}
}

func classes() []class {
	return []class{
		{name: "tape", disk: "tape", ready: true, local: true, gigabytes: 9000},
		{name: "fast", disk: "nvme", ready: true, local: true, gigabytes: 500},
		{name: "faster", disk: "nvme", ready: false, local: true, gigabytes: 500},
		{name: "tiny", disk: "nvme", ready: true, local: true, gigabytes: 5},
		{name: "shared", disk: "nvme", ready: true, gigabytes: 100},
		{name: "large", disk: "nvme", ready: true, local: true, gigabytes: 900},
		{name: "odd", disk: "ssd", ready: true},
	}
}

// Select does not need the other packages of the module.
func ExampleSelector_Select() {
	result := selector(50).Select(classes())
	if result.Chosen != nil {
		fmt.Println(result.Chosen.name)
	}
	for _, e := range result.Evaluations[:3] {
		fmt.Println(e.Name, e.Outcome, e.Rank, e.Reason, e.DecidedBy)
	}
	// Output:
	// fast
	// fast chosen 1 BestMatch size
	// large outranked 2 LowerPreferenceRank size
	// tape outranked 3 LowerPreferenceRank disk
}

// Explain describes the result for each candidate.
func ExampleResult_Explain() {
	fmt.Print(selector(50).Select(classes()).Explain())
	// Output:
	// fast is chosen of 7, decided by size
	//
	// STAGE         BEFORE  AFTER
	// availability  7       6
	// size          6       4
	// scope         4       3
	//
	// CANDIDATE  OUTCOME    RANK  REASON               DECIDED BY
	// fast       chosen     1     BestMatch            size
	// large      outranked  2     LowerPreferenceRank  size
	// tape       outranked  3     LowerPreferenceRank  disk
	// shared     rejected   -     HiddenByLocal        scope
	// odd        rejected   -     SizeUnknown          size
	// tiny       rejected   -     TooSmall             size
	// faster     rejected   -     NotReady             availability
}

// Summary returns a text for the message of a condition.
func ExampleResult_Summary() {
	all := classes()
	fmt.Println(selector(50).Select(all).Summary())
	fmt.Println(selector(10_000).Select(all).Summary())
	fmt.Println(selector(50).Select(nil).Summary())
	// Output:
	// fast is chosen of 7, decided by size
	// none of 7 passes: 5 TooSmall (fast, large, shared, and 2 more), 1 NotReady (faster), 1 SizeUnknown (odd)
	// no candidates
}

// Equal candidates are part of the result.
func ExampleResult_Ambiguous() {
	result := selector(50).Select([]class{
		{name: "b", disk: "ssd", ready: true, gigabytes: 100},
		{name: "a", disk: "ssd", ready: true, gigabytes: 100},
		{name: "c", disk: "ssd", ready: true, gigabytes: 200},
	})
	fmt.Println(result.Ambiguous(), result.Chosen == nil, len(result.Equals), result.Equals[0].name)
	fmt.Println(result.Summary())
	// Output:
	// true true 2 a
	// 2 of 3 are equal: a, b
}

// Best returns the first of the equal candidates by name, for callers to which they are interchangeable.
func ExampleResult_Best() {
	shuffled := []class{{name: "b", disk: "ssd", ready: true, gigabytes: 100}, {name: "a", disk: "ssd", ready: true, gigabytes: 100}}
	fmt.Println(selector(50).Select(shuffled).Best().name, selector(50).Select(shuffled[:1]).Best().name)
	fmt.Println(selector(50).Select(nil).Best() == nil)
	// Output:
	// a b
	// true
}

// Stage counts show where candidates were rejected.
func ExampleResult_Stage() {
	result := selector(50).Select(classes())
	fmt.Println(result.Stage("availability").After, result.Stage("size").Rejected())
	// Output:
	// 6 2
}

func ExampleInOrderFold() {
	zone := templates.InOrderFold("zone", func(c *class) string { return c.zone }, "north", "south")
	for _, c := range []class{{zone: "South"}, {zone: "NORTH"}, {zone: "west"}, {}} {
		fmt.Println(zone.Rank(&c))
	}
	// Output:
	// 1
	// 0
	// 2
	// 2
}
