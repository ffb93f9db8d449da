package pathtemplate_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// unwritable returns an error when encoded as JSON; garbled encodes to invalid JSON.
type (
	unwritable struct{}
	garbled    struct{}
	nothing    struct{}
	listed     struct{}
	truth      bool
)

func (unwritable) MarshalJSON() ([]byte, error) { return nil, errors.New("not today") }
func (garbled) MarshalJSON() ([]byte, error)    { return []byte("x y"), nil }
func (*nothing) MarshalJSON() ([]byte, error)   { return []byte("null"), nil }
func (listed) MarshalJSON() ([]byte, error)     { return []byte("[1]"), nil }
func (truth) MarshalJSON() ([]byte, error)      { return []byte("true"), nil }

// TestValues checks the text of values of every kind that an object may contain.
func TestValues(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("X", 3600))
	quantity := resource.MustParse("1500m")
	for name, test := range map[string]struct {
		value         any
		want, wantErr string
	}{
		"string":           {"V1", "/V1", ""},
		"bool":             {true, "/true", ""},
		"int":              {-7, "/-7", ""},
		"int64":            {int64(math.MinInt64), "/-9223372036854775808", ""},
		"uint64":           {uint64(math.MaxUint64), "/18446744073709551615", ""},
		"uint8":            {uint8(200), "/200", ""},
		"float":            {2.50, "/2.5", ""},
		"float32":          {float32(0.1), "/0.1", ""},
		"large float":      {1e21, "/1000000000000000000000", ""},
		"pointer":          {new("p"), "/p", ""},
		"quantity":         {quantity, "/1500m", ""},
		"quantity pointer": {&quantity, "/1500m", ""},
		"int or string":    {intstr.FromInt32(80), "/80", ""},
		"duration":         {metav1.Duration{Duration: time.Minute}, "/1m0s", ""},
		"time":             {at, "/2026-01-02%2002:04:05.000006%20+0000%20UTC", ""},
		"metav1 time":      {metav1.NewTime(at), "/2026-01-02%2002:04:05.000006%20+0000%20UTC", ""},
		"micro time":       {metav1.NewMicroTime(at), "/2026-01-02%2002:04:05.000006%20+0000%20UTC", ""},
		"its own JSON":     {truth(false), "/true", ""},
		"null":             {&nothing{}, "", "nil value"},
		"nil pointer":      {(*string)(nil), "", "nil value"},
		"list of its own":  {listed{}, "", "not a single string"},
		"not JSON":         {garbled{}, "", "JSON cannot hold"},
		"no JSON":          {unwritable{}, "", "not today"},
		"map":              {map[string]any{"a": 1}, "", "of kind map"},
		"list":             {[]any{1}, "", "of kind slice"},
		"complex":          {complex(1, 2), "", "of kind complex128"},
		"function":         {func() {}, "", "of kind func"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := render("/{.value}", map[string]any{"value": test.value}, pathtemplate.Options{Encoded: true})
			checkOutcome(t, err, reasonInvalid, test.wantErr)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestSegments checks the conversion of the text of a segment, to a DNS label and percent-encoded.
func TestSegments(t *testing.T) {
	t.Parallel()
	const refused = ""
	long := strings.Repeat("a", 70)
	for text, want := range map[string]struct{ label, encoded string }{
		"plain":           {"/plain", "/plain"},
		"MixedCase":       {"/mixedcase", "/MixedCase"},
		"a b":             {"/a-b", "/a%20b"},
		"a__b":            {"/a--b", "/a__b"},
		"-a-":             {"/a", "/-a-"},
		"1.0":             {"/1-0", "/1.0"},
		"é":               {refused, "/%C3%A9"},
		"\u212Aelvin":     {"/kelvin", "/%E2%84%AAelvin"}, // the Kelvin sign becomes k in lower case
		"a\xffb":          {"/a-b", "/a%FFb"},
		"~user":           {"/user", "/~user"},
		"a:b@c,d;e=f":     {"/a-b-c-d-e-f", "/a:b@c,d;e=f"},
		"100%":            {"/100", "/100%25"},
		"a?b#c":           {"/a-b-c", "/a%3Fb%23c"},
		" trimmed ":       {"/trimmed", "/trimmed"},
		"___":             {refused, "/___"},
		".":               {refused, refused},
		"..":              {refused, refused},
		"...":             {refused, "/..."},
		long:              {"/" + long[:63], "/" + long},
		long[:62] + "--b": {"/" + long[:62], "/" + long[:62] + "--b"},
	} {
		for _, encoded := range []bool{false, true} {
			wanted := want.label
			if encoded {
				wanted = want.encoded
			}
			got, err := render("/{.value}", map[string]any{"value": text}, pathtemplate.Options{Encoded: encoded})
			if got != wanted || (err != nil) != (wanted == refused) {
				t.Errorf("%q, encoded %v: got %q, %v, want %q", text, encoded, got, err, wanted)
			}
			if err == nil {
				checkPath(t, got, pathtemplate.DefaultMaxBytes)
			}
		}
	}
}

// TestEncodedLiterals checks that percent-encoded literals of a template are normalized.
func TestEncodedLiterals(t *testing.T) {
	t.Parallel()
	for template, test := range map[string]struct{ want, wantErr string }{
		"/%41":      {"/A", ""},
		"/%7e":      {"/~", ""},
		"/%c3%A9":   {"/%C3%A9", ""},
		"/%2B":      {"/%2B", ""},
		"/a%20b":    {"/a%20b", ""},
		"/%2f":      {"", `encoded slash "%2F"`},
		"/%2e%2e/b": {"", `segment ".."`},
		"/%2e/b":    {"/b", ""},
		"/%":        {"", `write "%25"`},
		"/%4":       {"", `write "%25"`},
		"/%4g":      {"", `write "%25"`},
		"/%g4":      {"", `write "%25"`},
		"/%25":      {"/%25", ""},
	} {
		got, err := render(template, nil, pathtemplate.Options{Encoded: true})
		checkOutcome(t, err, reasonInvalid, test.wantErr)
		if got != test.want {
			t.Errorf("%s: got %q, want %q", template, got, test.want)
		}
	}
}
