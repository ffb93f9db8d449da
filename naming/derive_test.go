package naming_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/naming"
)

func TestDeriveShape(t *testing.T) {
	t.Parallel()
	const h = "############" // a hash of 12 characters
	tests := map[string]struct {
		reason string
		parts  []string
		opts   []naming.Option
		want   string
	}{
		"Valid":          {"a single valid part is unchanged", []string{"my-service"}, nil, "my-service"},
		"Longest":        {"63 characters fit", []string{strings.Repeat("a", 63)}, nil, strings.Repeat("a", 63)},
		"TooLong":        {"a shortened name has a hash", []string{strings.Repeat("a", 64)}, nil, strings.Repeat("a", 50) + "-" + h},
		"Joined":         {"joined parts have a hash, because other parts can give the same text", []string{"web", "cache"}, nil, "web-cache-" + h},
		"Sanitised":      {"a.b must not become a-b", []string{"a.b"}, nil, "a-b-" + h},
		"UpperCase":      {"a changed letter case adds a hash", []string{"Web"}, nil, "web-" + h},
		"Input":          {"hash inputs distinguish equal parts", []string{"web"}, []naming.Option{naming.HashInputs("ns")}, "web-" + h},
		"NoInput":        {"HashInputs without values adds no hash", []string{"web"}, []naming.Option{naming.HashInputs()}, "web"},
		"LikeHashed":     {"a name that looks hashed gets a hash, so that it cannot equal a derived name", []string{"web-0123456789ab"}, nil, "web-0123456789ab-" + h},
		"AlmostHashed":   {"g is not a hexadecimal character", []string{"web-0123456789ag"}, nil, "web-0123456789ag"},
		"Empty":          {"a placeholder for an empty part", []string{""}, nil, "part-" + h},
		"Marks":          {"a placeholder for a part without letters and digits", []string{"x", "___"}, nil, "x-part-" + h},
		"Letter":         {"a name that starts with a digit gets a letter", []string{"1st"}, []naming.Option{naming.StartWithLetter}, "x1st-" + h},
		"LetterThere":    {"a name that starts with a letter is unchanged", []string{"first"}, []naming.Option{naming.StartWithLetter}, "first"},
		"LetterPart":     {"only the first part needs a letter", []string{"a", "1"}, []naming.Option{naming.StartWithLetter}, "a-1-" + h},
		"LetterTight":    {"the added letter counts for the length", []string{"123"}, []naming.Option{naming.StartWithLetter, naming.MaxLength(14)}, "x-" + h},
		"Subdomain":      {"dots are valid", []string{"api.example.com"}, []naming.Option{naming.SubdomainForm}, "api.example.com"},
		"SubdomainDots":  {"no empty labels", []string{".a-..-b."}, []naming.Option{naming.SubdomainForm}, "a.b-" + h},
		"LabelValue":     {"underscores are valid", []string{"a_b.c"}, []naming.Option{naming.LabelValueForm}, "a_b.c"},
		"ReserveLongest": {"the longest of several suffixes is reserved", []string{strings.Repeat("a", 60)}, []naming.Option{naming.Reserve("-b", "-cdef")}, strings.Repeat("a", 45) + "-" + h},
		"ReserveTwice":   {"the largest reservation wins", []string{strings.Repeat("a", 60)}, []naming.Option{naming.Reserve("-cdef"), naming.ReserveLength(2)}, strings.Repeat("a", 45) + "-" + h},
		"ManyParts":      {"the last parts are cut", strings.Split(strings.Repeat("a", 80), ""), nil, strings.Repeat("a-", 25) + h},
		"CutAtMark":      {"a cut name does not end with a dash", []string{"abcdefghi-jklmnopqrstuvw"}, []naming.Option{naming.MaxLength(23)}, "abcdefghi-" + h},
		"Unhashed":       {"without a hash, names can collide", []string{"A", "b"}, []naming.Option{naming.HashLength(0)}, "a-b"},
		"Later":          {"a later option wins", []string{"a"}, []naming.Option{naming.HashInputs(1), naming.HashLength(4), naming.HashLength(12)}, "a-" + h},
		"NilOption":      {"is ignored", []string{"a"}, []naming.Option{nil}, "a"},
		"Composed":       {"options compose", []string{"abcdefg"}, []naming.Option{nil, naming.MaxLength(6), naming.HashLength(4)}, "a-####"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := naming.Derive(tc.parts, tc.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(tc.want, "#"); n > 0 {
				got = got[:max(0, len(got)-n)] + strings.Repeat("#", n)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeriveTwins(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long-", 20)
	lists := [][]string{
		{"a-b-c"},
		{"a", "b-c"},
		{"a-b", "c"},
		{"a", "b", "c"},
		{"a.b-c"},
		{"a.b.c"},
		{"A-b-c"},
		{"a-b-c-"},
		{"-a-b-c"},
		{"a", "", "b-c"},
		{long + "one"},
		{long + "two"},
		{long, "one"},
		{"part"},
		{""},
		{"", ""},
		{"_"},
		{"part", "part"},
		{"\xff"},
		{"\xfe"},
		{"ü"},
		{"ö"},
	}
	inputs := [][]any{
		nil,
		{nil},
		{""},
		{"a"},
		{"a", ""},
		{"a", "b"},
		{"ab"},
		{"a|b"},
		{4},
		{"4"},
		{true},
		{"true"},
		{[]string{"a", "b"}},
		{[]string{"b", "a"}},
		{[]string{}},
		{map[string]string{}},
		{map[string]string{"a": "b"}},
		{map[string]any{"a": map[string]any{"b": "c"}}},
		{4.5},
		{[]any{4, "4"}},
	}
	seen := map[string]string{}
	for _, parts := range lists {
		for _, in := range inputs {
			name, err := naming.Derive(parts, naming.HashInputs(in...))
			if err != nil {
				t.Fatal(err)
			}
			now := fmt.Sprintf("%q %#v", parts, in)
			if before, ok := seen[name]; ok {
				t.Errorf("%s is the name of %s and of %s", name, before, now)
			}
			seen[name] = now
			if again, _ := naming.Derive([]string{name}); again == name && name != "a-b-c" && name != "part" {
				t.Errorf("%s can be chosen by a user: Derive would not change it", name)
			}
		}
	}
}

func TestDeriveErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		parts []string
		opts  []naming.Option
		want  string
	}{
		"NoParts":       {nil, nil, "parts is empty, want at least one name part"},
		"MaxZero":       {[]string{"a"}, []naming.Option{naming.MaxLength(0)}, "maxLength must be between 1 and 63, got 0"},
		"MaxNegative":   {[]string{"a"}, []naming.Option{naming.MaxLength(-2)}, "maxLength must be between 1 and 63, got -2"},
		"MaxTooLong":    {[]string{"a"}, []naming.Option{naming.MaxLength(64)}, "maxLength must be between 1 and 63, got 64"},
		"SubdomainMax":  {[]string{"a"}, []naming.Option{naming.SubdomainForm, naming.MaxLength(254)}, "maxLength must be between 1 and 253, got 254"},
		"HashNegative":  {[]string{"a"}, []naming.Option{naming.HashLength(-1)}, "hashLength must be between 0 and 64, got -1"},
		"HashTooLong":   {[]string{"a"}, []naming.Option{naming.SubdomainForm, naming.HashLength(65)}, "hashLength must be between 0 and 64, got 65"},
		"HashNoRoom":    {[]string{"a"}, []naming.Option{naming.MaxLength(5)}, "hashLength must be at most 3, for a character and a dash before it in a name of 5, got 12"},
		"ReserveAll":    {[]string{"a"}, []naming.Option{naming.ReserveLength(50)}, "reserveLength must be between 0 and 49, for a name of 63 with a hash of 12, got 50"},
		"ReserveMinus":  {[]string{"a"}, []naming.Option{naming.ReserveLength(-1), naming.ReserveLength(3)}, "reserveLength must be between 0 and 49, for a name of 63 with a hash of 12, got -1"},
		"Form":          {[]string{"a"}, []naming.Option{naming.Form(3)}, "form must be SubdomainForm, LabelValueForm or none, got 3"},
		"NotJSON":       {[]string{"a"}, []naming.Option{naming.HashInputs("x", func() {})}, "hash input 1 of type func(), want a value for encoding/json: json: unsupported type: func()"},
		"NaN":           {[]string{"a"}, []naming.Option{naming.HashInputs(math.NaN())}, "hash input 0 of type float64, want a value for encoding/json: json: unsupported value: NaN"},
		"NotUTF8":       {[]string{"a"}, []naming.Option{naming.HashInputs("\xff")}, "hash input 0 of type string, want a value for encoding/json: text is not valid UTF-8, which JSON cannot carry"},
		"NotUTF8Deep":   {[]string{"a"}, []naming.Option{naming.HashInputs([]any{"\xff"})}, "hash input 0 of type []interface {}, want a value for encoding/json: text is not valid UTF-8, which JSON cannot carry"},
		"NotUTF8Key":    {[]string{"a"}, []naming.Option{naming.HashInputs(map[string]string{"\xff": ""})}, "hash input 0 of type map[string]string, want a value for encoding/json: text is not valid UTF-8, which JSON cannot carry"},
		"NotUTF8Value":  {[]string{"a"}, []naming.Option{naming.HashInputs(map[string]string{"": "\xff"})}, "hash input 0 of type map[string]string, want a value for encoding/json: text is not valid UTF-8, which JSON cannot carry"},
		"NotUTF8String": {[]string{"a"}, []naming.Option{naming.HashInputs([]string{"\xff"})}, "hash input 0 of type []string, want a value for encoding/json: text is not valid UTF-8, which JSON cannot carry"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := naming.Derive(tc.parts, tc.opts...)
			if err == nil {
				t.Fatalf("got %q, want an error", got)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var option *naming.OptionError
			if isOption := strings.Contains(tc.want, " must be "); errors.As(err, &option) != isOption {
				t.Errorf("is an OptionError: %v, want %v", !isOption, isOption)
			}
		})
	}
}

func TestHashByMeaning(t *testing.T) {
	t.Parallel()
	type text string
	var (
		noMap  map[string]string
		noList []string
	)
	for name, pair := range map[string][2]any{
		"String":   {"a<b>\u2028", text("a<b>\u2028")},
		"Int":      {7, uint8(7)},
		"Int32":    {int32(-7), int16(-7)},
		"Float":    {1, 1.0},
		"Map":      {map[string]string{"b": "2", "a": "1"}, map[string]any{"a": "1", "b": "2"}},
		"Struct":   {struct{ B, A int }{1, 2}, map[string]int{"A": 2, "B": 1}},
		"List":     {[]string{"b", "a"}, [2]text{"b", "a"}},
		"Null":     {nil, (*int)(nil)},
		"NullMap":  {noMap, nil},
		"NullList": {noList, nil},
		"Bool":     {false, new(bool)},
	} {
		one, err := naming.Hash(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		two, err := naming.Hash(pair[1])
		if err != nil {
			t.Fatal(err)
		}
		if one != two {
			t.Errorf("%s: %#v and %#v have the same JSON, but not the same hash", name, pair[0], pair[1])
		}
	}
	for _, v := range []any{nil, "", "a", true, 1, int32(1), int64(math.MinInt64), []string{}, noList, []string{"a", ""}, noMap, map[string]string{"a": "b", "": ""}} {
		short, err := naming.ShortInput(v)
		if err != nil {
			t.Fatal(err)
		}
		long, err := naming.JSONInput(v)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(long, short); diff != "" {
			t.Errorf("%#v: the fast path differs from the JSON encoding (-JSON +fast)\n%s", v, diff)
		}
	}
}
