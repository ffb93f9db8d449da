package naming

import (
	"encoding/hex"
	"errors"
	"slices"
)

// placeholder replaces a part that has no letter and no digit.
const placeholder = "part"

// errNoParts is returned for an empty list of parts.
var errNoParts = errors.New("parts is empty, want at least one name part")

// Derive returns a name derived from parts. The same parts and options always give the same name, in every later version too.
//
// The readable text is the parts in order, each sanitised as by [DNSLabel], [DNSSubdomain] or [LabelValue] ("part" if nothing is left)
// and joined by dashes. If it is too long, the longest part (the first of equals) loses its last character until the text fits. The last
// parts are dropped only if one character of each part does not fit.
//
// A hash follows: "-" and [HashLength] hexadecimal characters. It is omitted for a single part that is valid, fits, and does not end like
// a hash, if there are no [HashInputs]. The hash covers the unmodified parts and inputs. Two different lists therefore have different
// names, except for a hash collision: ["a", "b-c"], ["a-b", "c"] and ["a-b-c"] differ, "a.b" and "a-b" differ, and a user cannot choose a
// part that equals a derived name. [HashLength](0) adds no hash and gives none of these guarantees.
//
// A name has at most [MaxLabel] characters, or 253 in [SubdomainForm]. Some kinds allow fewer; pass [ForKind].
//
// Derive returns an error for an option that no name can satisfy, for an empty list of parts, and for an input that cannot be encoded as
// JSON.
func Derive(parts []string, opts ...Option) (string, error) {
	o := resolve(opts)
	limit, err := o.limit()
	if err != nil {
		return "", err
	}
	if len(parts) == 0 {
		return "", errNoParts
	}
	if len(parts) == 1 && len(o.Inputs) == 0 && o.needsNothing(parts[0], limit) {
		return parts[0], nil
	}
	var room [2 * maxSubdomain]byte
	if o.HashLength == 0 {
		return string(o.appendReadable(room[:0], parts, limit)), nil
	}
	sum, err := digest(parts, o.Inputs)
	if err != nil {
		return "", err
	}
	name := o.appendReadable(room[:0], parts, limit-1-o.HashLength)
	var text [maxHashLength]byte
	hex.Encode(text[:], sum[:(o.HashLength+1)/2])
	name = append(name, '-')
	return string(append(name, text[:o.HashLength]...)), nil
}

// resolve applies opts to the defaults.
func resolve(opts []Option) options {
	o := options{HashLength: defaultHashLength}
	for _, opt := range opts {
		if opt != nil {
			opt.applyTo(&o)
		}
	}
	return o
}

// needsNothing reports whether part can be the name unchanged: it is valid, short enough, and does not end like a hash.
func (o *options) needsNothing(part string, limit int) bool {
	if part == "" || len(part) > limit || o.LetterFirst && isDigit(part[0]) || endsLikeHash(part, o.HashLength) {
		return false
	}
	var room [maxSubdomain]byte
	return string(appendSanitized(room[:0], part, o.Form, limit)) == part
}

// endsLikeHash reports whether name ends in a dash and n hexadecimal characters.
func endsLikeHash(name string, n int) bool {
	at := len(name) - n - 1
	if n == 0 || at < 0 || name[at] != '-' {
		return false
	}
	for _, c := range []byte(name[at+1:]) {
		if !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// appendReadable appends the joined parts, truncated to limit bytes. limit is at least 1.
func (o *options) appendReadable(dst []byte, parts []string, limit int) []byte {
	parts = parts[:min(len(parts), (limit+1)/2)]
	var room [4 * MaxLabel]byte
	var spans [8]span
	clean, cut := room[:0], spans[:0]
	longest := limit - 2*(len(parts)-1) // if every other part has one character
	for i, part := range parts {
		start := len(clean)
		clean = o.appendPart(clean, part, longest)
		if i == 0 && o.LetterFirst && isDigit(clean[0]) {
			clean = slices.Insert(clean, 0, 'x')
		}
		cut = append(cut, span{start: start, length: len(clean) - start})
	}
	shorten(clean, cut, limit)
	for i, s := range cut {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = append(dst, clean[s.start:s.start+s.length]...)
	}
	return dst
}

// appendPart appends one sanitised part, or the placeholder.
func (o *options) appendPart(dst []byte, part string, limit int) []byte {
	start := len(dst)
	if dst = appendSanitized(dst, part, o.Form, limit); len(dst) > start {
		return dst
	}
	return append(dst, placeholder...)
}

// span is a sanitised part in a buffer.
type span struct{ start, length int }

// shorten truncates the longest part, the first of equals, character by character until all parts and the dashes between them fit into
// limit. It removes marks at the end of a truncated part. A part keeps its first character.
func shorten(clean []byte, parts []span, limit int) {
	total := len(parts) - 1
	for _, p := range parts {
		total += p.length
	}
	for total > limit {
		longest, second := twoLongest(parts)
		if longest <= 1 {
			return
		}
		for i := range parts {
			p := &parts[i]
			if p.length != longest || total <= limit {
				continue
			}
			// One step to the second longest equals many steps of one character.
			keep := p.length - min(total-limit, max(longest-second, 1))
			kept := len(trimEnd(clean[:p.start+max(keep, 1)], p.start)) - p.start
			total -= p.length - kept
			p.length = kept
		}
	}
}

// twoLongest returns the two greatest lengths, which may be equal.
func twoLongest(parts []span) (longest, second int) {
	for _, p := range parts {
		switch {
		case p.length > longest:
			longest, second = p.length, longest
		case p.length > second:
			second = p.length
		}
	}
	return longest, second
}
