package templates_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/templates"
)

// item is a candidate; its letters are its properties.
type item struct{ name, letters string }

func named(c *item) string { return c.name }

// letter ranks by the letter at a position.
func letter(at int) templates.Preference[item] {
	return templates.Preference[item]{Name: fmt.Sprint("letter", at), Rank: func(c *item) int { return int(c.letters[at]) }}
}

// short formats an evaluation on one line.
func short(e templates.Evaluation[item]) string {
	return strings.Join([]string{e.Name, string(e.Outcome), e.Stage, e.Reason, fmt.Sprint(e.Rank), e.DecidedBy}, "|")
}

func TestSelect(t *testing.T) {
	t.Parallel()
	none := templates.Keep("none", "", func(*item) bool { return false })
	notX := templates.Keep("x", "HasX", func(c *item) bool { return !strings.Contains(c.letters, "x") })
	first := templates.OnlyBest("first", "NotFirst", func(c *item) int { return int(c.letters[0]) })
	tests := map[string]struct {
		reason     string
		selector   templates.Selector[item]
		candidates []item
		chosen     string
		equals     []string
		want       []string
		stages     []templates.Stage
	}{
		"Nothing": {
			reason: "no candidates give an empty result", selector: templates.Selector[item]{Filters: []templates.Filter[item]{notX}},
			stages: []templates.Stage{{Name: "x"}},
		},
		"ZeroValueOne": {
			reason: "a single candidate needs no preference", candidates: []item{{name: "a"}}, chosen: "a", equals: []string{"a"},
			want: []string{"|chosen||BestMatch|1|"},
		},
		"ZeroValueTwo": {
			reason: "without preferences all candidates are equal", candidates: []item{{name: "a"}, {name: "b"}}, equals: []string{"a", "b"},
			want: []string{"|equal||AmbiguousMatch|1|", "|equal||AmbiguousMatch|1|"},
		},
		"EmptyParts": {
			reason:     "unset filters keep and unset preferences rank all candidates equally",
			selector:   templates.Selector[item]{Name: named, Filters: []templates.Filter[item]{{Name: "off"}}, Preferences: []templates.Preference[item]{{Name: "off"}}},
			candidates: []item{{name: "b"}, {name: "a"}}, equals: []string{"a", "b"},
			want:   []string{"a|equal||AmbiguousMatch|1|", "b|equal||AmbiguousMatch|1|"},
			stages: []templates.Stage{{Name: "off", Before: 2, After: 2}},
		},
		"AllRejected": {
			reason:     "stages after the last rejection count no candidates; candidates that passed more stages come first",
			selector:   templates.Selector[item]{Name: named, Filters: []templates.Filter[item]{notX, none, first}},
			candidates: []item{{"b", "x"}, {"c", "y"}, {"a", "x"}},
			want:       []string{"c|rejected|none|none|0|", "a|rejected|x|HasX|0|", "b|rejected|x|HasX|0|"},
			stages:     []templates.Stage{{Name: "x", Before: 3, After: 1}, {Name: "none", Before: 1}, {Name: "first"}},
		},
		"Ranks": {
			reason:     "equal candidates share a rank and the next rank is skipped; the deciding preference compares with the best",
			selector:   templates.Selector[item]{Name: named, Preferences: []templates.Preference[item]{letter(0), letter(1)}},
			candidates: []item{{"e", "bb"}, {"d", "ab"}, {"c", "ab"}, {"b", "ba"}, {"a", "aa"}}, chosen: "a", equals: []string{"a"},
			want: []string{
				"a|chosen||BestMatch|1|letter1", "c|outranked||LowerPreferenceRank|2|letter1", "d|outranked||LowerPreferenceRank|2|letter1",
				"b|outranked||LowerPreferenceRank|4|letter0", "e|outranked||LowerPreferenceRank|5|letter0",
			},
		},
		"EqualsAndOthers": {
			reason:     "the best are equal, the others are outranked",
			selector:   templates.Selector[item]{Name: named, Preferences: []templates.Preference[item]{letter(0)}},
			candidates: []item{{"c", "b"}, {"b", "a"}, {"a", "a"}}, equals: []string{"a", "b"},
			want: []string{"a|equal||AmbiguousMatch|1|", "b|equal||AmbiguousMatch|1|", "c|outranked||LowerPreferenceRank|3|letter0"},
		},
		"BestAfterKeep": {
			reason:     "a rejected candidate is not compared in later stages",
			selector:   templates.Selector[item]{Name: named, Filters: []templates.Filter[item]{notX, first}, Preferences: []templates.Preference[item]{letter(1)}},
			candidates: []item{{"a", "ax"}, {"b", "bb"}, {"c", "ba"}, {"d", "ca"}}, chosen: "c", equals: []string{"c"},
			want: []string{
				"c|chosen||BestMatch|1|letter1", "b|outranked||LowerPreferenceRank|2|letter1", "d|rejected|first|NotFirst|0|", "a|rejected|x|HasX|0|",
			},
			stages: []templates.Stage{{Name: "x", Before: 4, After: 3}, {Name: "first", Before: 3, After: 2}},
		},
		"KeepAndBest": {
			reason: "one stage can use Keep and Best",
			selector: templates.Selector[item]{Name: named, Filters: []templates.Filter[item]{{
				Name: "both", Reason: "Lost", Keep: notX.Keep, Best: first.Best,
				ReasonFor: func(c *item) string { return strings.TrimPrefix("Is"+c.letters, "Isb") },
			}}},
			candidates: []item{{"a", "x"}, {"b", "b"}, {"c", "a"}}, chosen: "c", equals: []string{"c"},
			want:   []string{"c|chosen||BestMatch|1|", "a|rejected|both|Isx|0|", "b|rejected|both|Lost|0|"},
			stages: []templates.Stage{{Name: "both", Before: 3, After: 1}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := tc.selector.Select(tc.candidates)
			var chosen string
			if result.Chosen != nil {
				chosen = result.Chosen.name
			}
			var equals, got []string
			for _, c := range result.Equals {
				equals = append(equals, c.name)
			}
			for _, e := range result.Evaluations {
				got = append(got, short(e))
				if e.Candidate != &tc.candidates[e.Index] {
					t.Errorf("%s points to a copy", e.Name)
				}
			}
			if chosen != tc.chosen || result.Ambiguous() != (len(equals) > 1) {
				t.Errorf("%s: chosen %q, want %q", tc.reason, chosen, tc.chosen)
			}
			for what, diff := range map[string]string{
				"equals":      cmp.Diff(tc.equals, equals),
				"evaluations": cmp.Diff(tc.want, got),
				"stages":      cmp.Diff(append([]templates.Stage{}, tc.stages...), result.Stages),
			} {
				if diff != "" {
					t.Errorf("%s: %s (-want +got)\n%s", tc.reason, what, diff)
				}
			}
		})
	}
}

func TestStageUnknown(t *testing.T) {
	t.Parallel()
	if got := (templates.Result[item]{}).Stage("x"); got != (templates.Stage{Name: "x"}) {
		t.Errorf("got %+v, want zeros", got)
	}
}

func TestSummaryBounds(t *testing.T) {
	t.Parallel()
	many := make([]item, 100)
	for i := range many {
		many[i] = item{name: fmt.Sprintf("%03d%s", i, strings.Repeat("é", 200)), letters: fmt.Sprint("Reason", i%20)}
	}
	reject := templates.Filter[item]{Keep: func(*item) bool { return false }, ReasonFor: func(c *item) string { return c.letters }}
	for name, s := range map[string]templates.Selector[item]{
		"Rejected": {Name: named, Filters: []templates.Filter[item]{reject}},
		"Equal":    {Name: named},
	} {
		got := s.Select(many).Summary()
		if len(got) > templates.MaxSummary || strings.ContainsRune(got, '\uFFFD') || strings.ToValidUTF8(got, "?") != got {
			t.Errorf("%s: %d bytes, want whole characters in at most %d: %s", name, len(got), templates.MaxSummary, got)
		}
	}
	short := make([]item, 8)
	for i := range short {
		short[i] = item{name: fmt.Sprint(i), letters: fmt.Sprint("R", i/2)}
	}
	short[7].letters = "R0"
	got := templates.Selector[item]{Name: named, Filters: []templates.Filter[item]{reject}}.Select(short).Summary()
	if want := "none of 8 passes: 3 R0 (0, 1, 7), 2 R1 (2, 3), 2 R2 (4, 5), 1 R3 (6)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = templates.Selector[item]{}.Select(short).Summary()
	if want := "8 of 8 are equal: #0, #1, #2, and 5 more"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestExplainKeepsRows(t *testing.T) {
	t.Parallel()
	got := templates.Selector[item]{Name: named}.Select([]item{{name: "a\tb\nc"}}).Explain()
	if lines := strings.Count(got, "\n"); lines != 4 || !strings.Contains(got, "a b c") {
		t.Errorf("a name changes the table layout:\n%s", got)
	}
}

// FuzzSelect shuffles random candidates, and checks that the result is the same except for the index and contains each
// candidate once.
func FuzzSelect(f *testing.F) {
	f.Add("aa,ab,ba,xx", uint64(1))
	f.Add("a,,a,b", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		var candidates []item
		for i, letters := range strings.Split(text, ",") {
			candidates = append(candidates, item{name: fmt.Sprint("n", i), letters: letters + "~~"})
		}
		s := templates.Selector[item]{
			Name: named,
			Filters: []templates.Filter[item]{
				templates.Keep("x", "HasX", func(c *item) bool { return c.letters[0] != 'x' }),
				templates.OnlyBest("first", "NotFirst", func(c *item) int { return int(c.letters[0]) / 2 }),
			},
			Preferences: []templates.Preference[item]{letter(0), letter(1)},
		}
		want := s.Select(candidates)
		names := map[string]bool{}
		for _, e := range want.Evaluations {
			names[e.Name] = true
		}
		if len(names) != len(candidates) || len(want.Evaluations) != len(candidates) {
			t.Errorf("%d evaluations of %d candidates", len(want.Evaluations), len(candidates))
		}
		shuffled := slices.Clone(candidates)
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got := s.Select(shuffled)
		if diff := cmp.Diff(want.Explain(), got.Explain()); diff != "" {
			t.Errorf("the result depends on the order of the candidates (-want +got)\n%s", diff)
		}
		if want.Ambiguous() == (want.Chosen != nil) && len(want.Equals) > 0 {
			t.Errorf("chosen %v with %d equals", want.Chosen, len(want.Equals))
		}
	})
}
