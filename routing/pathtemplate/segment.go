package pathtemplate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reconcilekit/reconcilekit/routing/internal/problem"
)

// maxSegment is the longest DNS-1123 label (RFC 1123 section 2.1).
const maxSegment = 63

// maxPathLength is the longest path of an HTTPRoute match, in bytes.
const maxPathLength = 1024

// appendValue appends the value of an expression to the raw path text. Only a multi-segment value keeps its slashes.
func appendValue(text []byte, value string, encoded bool, multiSegment bool) ([]byte, error) {
	value = strings.TrimSpace(value)
	switch {
	case !encoded && multiSegment:
		return append(text, value...), nil
	case !encoded:
		return appendDNS(text, value), nil
	case !multiSegment && strings.Contains(value, "/"):
		// The HTTPRoute CRD rejects "%2F", because gateways disagree on whether it is a separator.
		return text, fmt.Errorf(`the value %s contains "/", which one encoded segment cannot hold`, problem.Quote(value))
	}
	for i := range len(value) {
		text = appendEncoded(text, value[i])
	}
	return text, nil
}

// appendSegment appends one cleaned segment of the path text, or nothing if it is empty.
func appendSegment(path, segment []byte, encoded bool) ([]byte, error) {
	if !encoded {
		return appendDNS(path, string(segment)), nil
	}
	switch string(segment) {
	case ".":
		return path, nil
	case "..":
		return path, errors.New(`the path has a segment ".."`)
	}
	return append(path, segment...), nil
}

// appendDNS appends text as a DNS-1123 label, or nothing if it has no letter or digit. Each invalid rune becomes one "-".
func appendDNS(dst []byte, text string) []byte {
	start := len(dst)
	for _, r := range text {
		c := byte('-')
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			c = byte(r) //nolint:gosec // just compared
		case 'A' <= r && r <= 'Z':
			c = byte(r) + 'a' - 'A'
		case r >= utf8.RuneSelf:
			// Some runes outside ASCII have an ASCII lower case, such as the Kelvin sign.
			if lower := unicode.ToLower(r); 'a' <= lower && lower <= 'z' {
				c = byte(lower)
			}
		}
		if c == '-' && len(dst) == start {
			continue
		}
		if len(dst) == start+maxSegment {
			break
		}
		dst = append(dst, c)
	}
	return append(dst[:start], bytes.TrimRight(dst[start:], "-")...)
}

// encodeLiteral percent-encodes the literal text of a template. Encoded octets are normalised by RFC 3986 section 6.2.2: upper-case
// hexadecimal digits, and unreserved characters decoded.
func encodeLiteral(text string) (string, error) {
	encoded := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '/':
			encoded = append(encoded, c)
		case c != '%':
			encoded = appendEncoded(encoded, c)
		case i+2 >= len(text) || unhex(text[i+1]) < 0 || unhex(text[i+2]) < 0:
			return "", errors.New(`a "%" without two hexadecimal digits after it: write "%25" for a percent sign`)
		default:
			octet := byte(unhex(text[i+1])<<4 | unhex(text[i+2])) //nolint:gosec // two digits of 4 bits
			if octet == '/' {
				return "", errors.New(`an encoded slash "%2F", which an HTTPRoute path must not contain`)
			}
			if unreserved(octet) {
				encoded = append(encoded, octet)
			} else {
				encoded = append(encoded, '%', hexDigits[octet>>4], hexDigits[octet&15])
			}
			i += 2
		}
	}
	return string(encoded), nil
}

const hexDigits = "0123456789ABCDEF"

// appendEncoded appends one octet of data: unchanged if RFC 3986 allows it in a segment (pchar), else percent-encoded. It keeps a "/";
// the caller decides whether one is allowed.
func appendEncoded(dst []byte, c byte) []byte {
	if unreserved(c) || strings.IndexByte("/!$&'()*+,;=:@", c) >= 0 {
		return append(dst, c)
	}
	return append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
}

// unreserved reports whether c is an unreserved character of RFC 3986 section 2.3.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// unhex is the value of a hexadecimal digit, or -1.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
