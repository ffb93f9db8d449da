package naming

import "unicode/utf8"

// DNSLabel converts s to a DNS label (RFC 1123): ASCII letters in lower case, every other character outside [a-z0-9-] one dash (runs are
// not collapsed), no dash at either end, at most [MaxLabel] bytes. It may start with a digit, and it is empty if s has no letter and no
// digit. A valid label is returned unchanged.
//
// Different texts can give the same label; [Derive] distinguishes them.
func DNSLabel(s string) string { return sanitized(s, labelForm) }

// DNSSubdomain converts s to a DNS subdomain: like [DNSLabel], but keeps dots between letters or digits (empty labels are dropped), and
// has at most 253 bytes. A valid subdomain is returned unchanged.
func DNSSubdomain(s string) string { return sanitized(s, SubdomainForm) }

// LabelValue converts s to the value of a Kubernetes label: ASCII letters in lower case, every run of characters outside [a-z0-9._-] one
// underscore, a letter or digit at both ends, at most [MaxLabel] bytes. Without a letter or digit it is empty, which is a valid value,
// but not a useful key: check for it if the value selects objects.
//
// Different texts can give the same value. If the value selects objects, use [Derive] with [LabelValueForm].
func LabelValue(s string) string { return sanitized(s, LabelValueForm) }

// sanitized returns s itself if it is valid.
func sanitized(s string, form nameForm) string {
	var room [maxSubdomain]byte
	clean := appendSanitized(room[:0], s, form, form.max())
	if string(clean) == s {
		return s
	}
	return string(clean)
}

// appendSanitized appends at most limit bytes of s in this form to dst, either with a letter or digit at both ends or nothing.
func appendSanitized(dst []byte, s string, form nameForm, limit int) []byte {
	start := len(dst)
	end := start + limit
	foreign := false // the previous character was replaced
	for i := 0; i < len(s) && len(dst) < end; {
		c := classes[s[i]]
		if s[i] < utf8.RuneSelf {
			i++
		} else {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
		}
		switch {
		case c > mark: // letter or digit
			dst = append(dst, c)
		case form == labelForm:
			if len(dst) > start {
				dst = append(dst, '-')
			}
		case form == SubdomainForm:
			dst = appendSeparator(dst, start, c)
		case len(dst) > start && (c != 0 || !foreign):
			dst = append(dst, valueMarks[c])
		}
		foreign = c == 0
	}
	return trimEnd(dst, start)
}

// appendSeparator appends a dot, or a dash for any other class, to a subdomain where the form allows it.
func appendSeparator(dst []byte, start int, class byte) []byte {
	separator := byte('-')
	if class == dot {
		separator = '.'
		for len(dst) > start && dst[len(dst)-1] == '-' {
			dst = dst[:len(dst)-1]
		}
	}
	if len(dst) == start || dst[len(dst)-1] == '.' {
		return dst
	}
	return append(dst, separator)
}

// trimEnd removes dashes, dots and underscores from the end of dst, down to start.
func trimEnd(dst []byte, start int) []byte {
	for len(dst) > start && classes[dst[len(dst)-1]] <= mark {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// Classes below mark are separators; 0 is every character that no form allows.
const (
	dash byte = iota + 1
	dot
	mark // underscore, and the last class that is not a letter or digit
)

// valueMarks maps each class up to mark to its character in a label value: an underscore for characters that no form allows.
const valueMarks = "_-._"

// classes maps a byte to its class; the class of a letter or digit is its lower case.
//
//nolint:gochecknoglobals // a lookup table that nothing writes
var classes = [256]byte{
	'-': dash, '.': dot, '_': mark,
	'0': '0', '1': '1', '2': '2', '3': '3', '4': '4', '5': '5', '6': '6', '7': '7', '8': '8', '9': '9',
	'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd', 'e': 'e', 'f': 'f', 'g': 'g', 'h': 'h', 'i': 'i', 'j': 'j', 'k': 'k', 'l': 'l', 'm': 'm',
	'n': 'n', 'o': 'o', 'p': 'p', 'q': 'q', 'r': 'r', 's': 's', 't': 't', 'u': 'u', 'v': 'v', 'w': 'w', 'x': 'x', 'y': 'y', 'z': 'z',
	'A': 'a', 'B': 'b', 'C': 'c', 'D': 'd', 'E': 'e', 'F': 'f', 'G': 'g', 'H': 'h', 'I': 'i', 'J': 'j', 'K': 'k', 'L': 'l', 'M': 'm',
	'N': 'n', 'O': 'o', 'P': 'p', 'Q': 'q', 'R': 'r', 'S': 's', 'T': 't', 'U': 'u', 'V': 'v', 'W': 'w', 'X': 'x', 'Y': 'y', 'Z': 'z',
}
