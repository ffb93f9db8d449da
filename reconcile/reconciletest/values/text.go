package values

import (
	"math"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// strange returns unusual texts that are valid by the schema, but are not valid as a name, label or path.
func strange() []string {
	return []string{
		"", " ", "a", "A-Z_0.9", "-", "../../etc/passwd", "{{ .Values.x }}", "$(HOME)", "a\nb: c", "\"", "\\", "null", "0x1F", "1e400", "%s",
		"grüße", "\u202eabc", "a\u0000b", strings.Repeat("x", 64), strings.Repeat("y", 300),
	}
}

// formatted returns texts of the formats that a server checks.
func formatted() map[string][]string {
	return map[string][]string{
		"date-time": {"2026-01-02T03:04:05Z", "1970-01-01T00:00:00+14:00"},
		"date":      {"2026-02-28"},
		"duration":  {"0s", "1h30m", "-1s", "87600h"},
		"uri":       {"https://example.com/a?b=c#d", "urn:x"},
		"uuid":      {"123e4567-e89b-12d3-a456-426614174000"},
		"ipv4":      {"192.0.2.1"},
		"ipv6":      {"2001:db8::1"},
		"cidr":      {"192.0.2.0/24"},
		"email":     {"a@example.com"},
		"hostname":  {"a.example.com"},
		"byte":      {"", "YQ=="},
	}
}

// text returns a string of the schema's pattern, else of its format, else an unusual one.
func (g generator) text(s *apiextensionsv1.JSONSchemaProps) string {
	least, most := ptr.Deref(s.MinLength, 0), ptr.Deref(s.MaxLength, math.MaxInt64)
	if s.Pattern != "" {
		if parsed, err := syntax.Parse(s.Pattern, syntax.Perl); err == nil {
			var out strings.Builder
			g.match(&out, parsed.Simplify())
			return out.String()
		}
	}
	candidates := formatted()[s.Format]
	if len(candidates) == 0 {
		candidates = strange()
	}
	out := candidates[g.IntN(len(candidates))]
	for int64(utf8.RuneCountInString(out)) < least {
		out += "z"
	}
	if int64(utf8.RuneCountInString(out)) > most {
		out = string([]rune(out)[:most])
	}
	return out
}

// match writes a text that the expression matches.
func (g generator) match(out *strings.Builder, e *syntax.Regexp) {
	repeat := func(least, most int) {
		for range least + g.IntN(most-least+1) {
			g.match(out, e.Sub[0])
		}
	}
	switch e.Op {
	case syntax.OpLiteral:
		out.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		if len(e.Rune) > 0 {
			at := 2 * g.IntN(len(e.Rune)/2)
			out.WriteRune(e.Rune[at] + g.Int32N(min(e.Rune[at+1]-e.Rune[at], 255)+1))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteRune('a' + g.Int32N(26))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range e.Sub {
			g.match(out, sub)
		}
	case syntax.OpAlternate:
		g.match(out, e.Sub[g.IntN(len(e.Sub))])
	case syntax.OpStar:
		repeat(0, longest)
	case syntax.OpPlus:
		repeat(1, longest)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(e.Min, max(e.Min, min(e.Max, e.Min+longest)))
	default: // the beginning, the end, and expressions that match nothing
	}
}
