package text

import (
	"regexp"
	"strings"
)

// hidden stands in a text where a credential was.
const hidden = "***"

// secretWord is the last part of a name that holds a credential, such as db_password or X-Api-Key.
const secretWord = `(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|` +
	`signature|sig|credentials?)`

// valueForm is a value in quotes or up to the next separator.
const valueForm = `(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',;&)\]}]+)`

// credential is one form in which a credential stands in a text.
type credential struct {
	form *regexp.Regexp
	keep string // what replaces it, with the groups that are kept
}

// credentials are tried in order. A name with a colon behind it is mostly a field or a message ("token: not found"), so that there only
// the forms of JSON, of HTTP and of the API server's validation count.
var credentials = []credential{ //nolint:gochecknoglobals // compiled once, never changed
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), hidden},
	{regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'@]*:[^\s/?#"']*@`), "${1}" + hidden + "@"},
	{regexp.MustCompile(`\b[^\s:/@"'=]+:[^\s/"']+@(tcp|udp|unix)\(`), hidden + "@${1}("},
	{regexp.MustCompile(`(?i)\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:basic|bearer|digest|negotiate)?\s*)[^\s"',]+`), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b(bearer\s+["']?)[A-Za-z0-9._~+/=-]*[0-9._~+/=-][A-Za-z0-9._~+/=-]*`), "${1}" + hidden},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?`), hidden},
	{regexp.MustCompile(`\b(?:AKIA[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,})`), hidden},
	{regexp.MustCompile(`(?i)([A-Za-z0-9_.-]*` + secretWord + `\s*=\s*)` + valueForm), "${1}" + hidden},
	{regexp.MustCompile(`(?i)("[A-Za-z0-9_.-]*` + secretWord + `"\s*:\s*)` + valueForm), "${1}" + hidden},
	{regexp.MustCompile(`(?i)(` + secretWord + `[A-Za-z0-9_.\[\]-]*: (?:Invalid|Unsupported|Duplicate) value: )` + valueForm), "${1}" + hidden},
	{regexp.MustCompile(`(?i)\b(` + secretWord + `: )[^\s"',;]*[0-9][^\s"',;]*`), "${1}" + hidden},
}

// Scrub returns the text with "***" where it has what looks like a credential: user and password in a URL or a data source name,
// an Authorization header, a bearer token or JSON Web Token, a private key, a value behind the name of a password, token or key.
// Text around it is kept, and a text without any comes back as it is. It is a last defence for errors that are stored and
// shown; whoever makes an error leaves credentials out of it.
func Scrub(text string) string {
	if !suspicious(text) {
		return text
	}
	for _, c := range credentials {
		text = c.form.ReplaceAllString(text, c.keep)
	}
	return text
}

// suspicious reports quickly that a text may have a credential in it.
func suspicious(text string) bool {
	return strings.ContainsAny(text, "@=") || strings.Contains(text, "eyJ") || mayName.MatchString(text)
}

var mayName = regexp.MustCompile(`(?i)auth|bearer|pass|pwd|secret|token|key|sig|credential|AKIA|gh[pousr]_|glpat-|xox`)
